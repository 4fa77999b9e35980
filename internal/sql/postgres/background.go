package postgres

import (
	"context"
	"sync"
)

// background runs one short task at a time in the background, until it is closed.
type background struct {
	mu     sync.Mutex
	busy   bool
	closed bool
	stop   context.CancelFunc
	tasks  sync.WaitGroup
}

// run starts a task unless one is running.
func (b *background) run(task func(context.Context)) {
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

// close cancels the running task and waits for it.
func (b *background) close() {
	b.mu.Lock()
	b.closed = true
	if b.stop != nil {
		b.stop()
	}
	b.mu.Unlock()
	b.tasks.Wait()
}
