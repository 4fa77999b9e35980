// Package background runs what an engine does beside its callers.
package background

import (
	"context"
	"sync"
)

// Runner runs one short task at a time in the background, until it is closed. The zero value is
// ready to use.
type Runner struct {
	mu     sync.Mutex
	busy   bool
	closed bool
	stop   context.CancelFunc
	tasks  sync.WaitGroup
}

// Run starts a task unless one is running.
func (b *Runner) Run(task func(context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy || b.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	b.busy, b.stop = true, stop
	b.tasks.Go(func() {
		defer stop()
		task(ctx)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.busy = false
	})
}

// Close cancels the running task and waits for it.
func (b *Runner) Close() {
	b.mu.Lock()
	b.closed = true
	if b.stop != nil {
		b.stop()
	}
	b.mu.Unlock()
	b.tasks.Wait()
}
