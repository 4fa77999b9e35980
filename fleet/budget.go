package fleet

import (
	"context"
	"sync/atomic"
)

// budget is a counting semaphore.
type budget struct {
	tokens chan struct{}
}

func newBudget(n int) budget { return budget{make(chan struct{}, n)} }

// try acquires a token if one is free.
func (b budget) try() bool {
	select {
	case b.tokens <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquire waits for a token.
func (b budget) acquire(ctx context.Context) error {
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

func (b budget) release() { <-b.tokens }

func (b budget) used() int  { return len(b.tokens) }
func (b budget) total() int { return cap(b.tokens) }

// connections limits all connections to servers. A caller that has to wait makes the fleet
// close idle ones.
type connections struct {
	budget
	pressed func()
	waiting atomic.Int64
	holders holders
}

// Enter waits until one more connection is allowed.
func (c *connections) Enter(ctx context.Context) error {
	if c.try() {
		return nil
	}
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	c.pressed()
	return c.acquire(ctx)
}

// Leave ends what Enter began.
func (c *connections) Leave() { c.release() }
