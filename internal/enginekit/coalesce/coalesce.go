// Package coalesce merges concurrent calls into batches. It is group commit without a background
// goroutine: a caller that finds a free place becomes the leader and runs everything that has
// queued up meanwhile; the others wait for their result.
package coalesce

import (
	"context"
	"errors"
	"sync"
)

// ErrUnderWay is returned when the caller's context ended while its item was already being
// run, or when that panicked; its outcome is unknown.
var ErrUnderWay = errors.New("cancelled while under way")

// Group coalesces items of type T. Set the fields before the first Do.
type Group[T any] struct {
	// Leaders is how many batches may be under way at once, at least 1.
	Leaders int
	// Max is how many items one batch holds, at least 1.
	Max int
	// Patient makes a caller whose item is being run wait for its result even after its
	// context ended, so that nothing of it is used afterwards.
	Patient bool
	// Run runs a batch and returns one error per item; a nil slice means that all succeeded.
	// ctx has the leader's values but not its cancellation: a cancelled leader must not fail
	// the others.
	Run func(ctx context.Context, batch []T) []error

	mu      sync.Mutex
	leading int
	queue   []*waiter[T]
}

type waiter[T any] struct {
	item  T
	state chan result // buffered: a leader never waits for a waiter
	taken bool
}

// result is a waiter's result, or makes it the leader.
type result struct {
	lead bool
	err  error
}

// Do runs item, alone or together with others, and returns its result. When ctx ends before the
// item was taken nothing happened; afterwards the error wraps ErrUnderWay, unless the group is
// patient.
func (g *Group[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.leading < g.Leaders {
		g.leading++
		batch := g.takeLocked(&waiter[T]{item: item, taken: true})
		g.mu.Unlock()
		return g.lead(ctx, batch)
	}
	w := &waiter[T]{item: item, state: make(chan result, 1)}
	g.queue = append(g.queue, w)
	g.mu.Unlock()
	return g.wait(ctx, w)
}

func (g *Group[T]) wait(ctx context.Context, w *waiter[T]) error {
	select {
	case v := <-w.state:
		return g.obey(ctx, w, v)
	case <-ctx.Done():
	}
	g.mu.Lock()
	if !w.taken {
		g.dropLocked(w)
		g.mu.Unlock()
		return ctx.Err()
	}
	g.mu.Unlock()
	if g.Patient {
		return g.obey(ctx, w, <-w.state)
	}
	select {
	case v := <-w.state: // it has its result by now, or has to lead
		return g.obey(ctx, w, v)
	default:
		return errors.Join(ErrUnderWay, ctx.Err())
	}
}

func (g *Group[T]) obey(ctx context.Context, w *waiter[T], v result) error {
	if !v.lead {
		return v.err
	}
	g.mu.Lock()
	batch := g.takeLocked(w)
	g.mu.Unlock()
	return g.lead(ctx, batch)
}

// takeLocked forms a batch around the leader's own item.
func (g *Group[T]) takeLocked(leader *waiter[T]) []*waiter[T] {
	n := min(len(g.queue), g.Max-1)
	batch := make([]*waiter[T], 0, n+1)
	batch = append(batch, leader)
	for _, w := range g.queue[:n] {
		w.taken = true
		batch = append(batch, w)
	}
	g.queue = append(g.queue[:0], g.queue[n:]...)
	return batch
}

func (g *Group[T]) dropLocked(w *waiter[T]) {
	for i, q := range g.queue {
		if q == w {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			return
		}
	}
}

// lead runs a batch whose first item is the caller's own, passes the lead on, and returns the
// caller's result.
func (g *Group[T]) lead(ctx context.Context, batch []*waiter[T]) error {
	items := make([]T, len(batch))
	for i, w := range batch {
		items[i] = w.item
	}
	var errs []error
	ended := false
	defer func() { // also if Run panics: the leader's caller may recover, and the others wait
		g.passLead()
		for i, w := range batch[1:] {
			if ended {
				w.state <- result{err: pick(errs, i+1)}
			} else {
				w.state <- result{err: ErrUnderWay}
			}
		}
	}()
	errs = g.Run(context.WithoutCancel(ctx), items)
	ended = true
	return pick(errs, 0)
}

// passLead makes the first waiter the next leader, or frees the place.
func (g *Group[T]) passLead() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.leading--
		return
	}
	next := g.queue[0]
	g.queue = append(g.queue[:0], g.queue[1:]...)
	next.taken = true
	next.state <- result{lead: true}
}

func pick(errs []error, i int) error {
	if errs == nil {
		return nil
	}
	return errs[i]
}
