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
	mu         sync.Mutex
	next, last int64 // the ids still free: next … last
}

// Take returns the first of n consecutive ids. When the current block is too
// short it is dropped and fetch reserves a new one, returning its first id.
func (b *Blocks) Take(ctx context.Context, n int, fetch func(context.Context) (int64, error)) (int64, error) {
	if n < 1 || n > BlockSize {
		return 0, fmt.Errorf("reserve ids: %d at once, want 1 to %d", n, BlockSize)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == 0 || b.last-b.next+1 < int64(n) {
		first, err := fetch(ctx)
		if err != nil {
			return 0, err
		}
		b.next, b.last = first, first+BlockSize-1
	}
	lo := b.next
	b.next += int64(n)
	return lo, nil
}

// TryTake is Take without a way to fetch: ok is false when the block is short.
func (b *Blocks) TryTake(n int) (lo int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 1 || b.next == 0 || b.last-b.next+1 < int64(n) {
		return 0, false
	}
	lo = b.next
	b.next += int64(n)
	return lo, true
}
