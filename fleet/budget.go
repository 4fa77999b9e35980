package fleet

import (
	"context"
	"sync/atomic"
)

// budget is how many of something there may be at once.
type budget struct {
	tokens chan struct{}
}

func newBudget(n int) budget { return budget{make(chan struct{}, n)} }

// try takes one if there is one.
func (b budget) try() bool {
	select {
	case b.tokens <- struct{}{}:
		return true
	default:
		return false
	}
}

// take waits for one.
func (b budget) take(ctx context.Context) error {
	if b.try() {
		return nil
	}
	select {
	case b.tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b budget) give() { <-b.tokens }

func (b budget) used() int  { return len(b.tokens) }
func (b budget) total() int { return cap(b.tokens) }

// connections is the gate of all connections to servers. Somebody who has to wait
// has idle ones of others closed.
type connections struct {
	budget
	pressed func()
	waiting atomic.Int64
}

// Enter waits until there is room for one more connection.
func (c *connections) Enter(ctx context.Context) error {
	if c.try() {
		return nil
	}
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	c.pressed()
	return c.take(ctx)
}

// Leave makes room for another.
func (c *connections) Leave() { c.give() }
