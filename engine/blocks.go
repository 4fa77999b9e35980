package engine

import (
	"context"
	"fmt"
	"sync"
)

// BlockSize is how many ids one reservation takes. A process that crashes
// loses at most this many, of 2^48.
const BlockSize = 4096

// Blocks hands out consecutive ids from blocks reserved ahead, so that an
// enqueue knows its ids without asking the database (layout rule 11).
type Blocks struct {
	// mu is never held while a block is fetched: a fetch may wait for just
	// what another caller's transaction holds, the write lock for instance.
	mu         sync.Mutex
	next, last int64         // the ids still free: next … last
	turn       chan struct{} // full while Take fetches
}

// Take returns the first of n consecutive ids. When the current block is too
// short it is dropped and fetch reserves a new one, returning its first id;
// callers that need one at the same time share it.
func (b *Blocks) Take(ctx context.Context, n int, fetch func(context.Context) (int64, error)) (int64, error) {
	if err := checkCount(n); err != nil {
		return 0, err
	}
	if lo, ok := b.TryTake(n); ok {
		return lo, nil
	}
	turn := b.turns()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return b.TakeNow(ctx, n, fetch)
}

// TakeNow is Take for callers inside a transaction: it never waits for what
// another caller fetches, which may wait for that very transaction.
func (b *Blocks) TakeNow(ctx context.Context, n int, fetch func(context.Context) (int64, error)) (int64, error) {
	if err := checkCount(n); err != nil {
		return 0, err
	}
	if lo, ok := b.TryTake(n); ok {
		return lo, nil
	}
	lo, err := fetch(ctx)
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if BlockSize-n > b.left() {
		b.next, b.last = lo+int64(n), lo+BlockSize-1
	}
	return lo, nil
}

// TryTake is Take without a way to fetch: ok is false when the block is short.
func (b *Blocks) TryTake(n int) (lo int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 1 || b.left() < n {
		return 0, false
	}
	lo = b.next
	b.next += int64(n)
	return lo, true
}

// Drop forgets the block: the database it is of is another one now.
func (b *Blocks) Drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next, b.last = 0, 0
}

func (b *Blocks) left() int {
	if b.next == 0 {
		return 0
	}
	return int(b.last - b.next + 1)
}

func (b *Blocks) turns() chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turn == nil {
		b.turn = make(chan struct{}, 1)
	}
	return b.turn
}

func checkCount(n int) error {
	if n < 1 || n > BlockSize {
		return fmt.Errorf("reserve ids: %d at once, want 1 to %d", n, BlockSize)
	}
	return nil
}
