package engine

import (
	"context"
	"fmt"
	"sync"
)

// BlockSize is how many ids one reservation takes. A process that crashes loses at most two
// blocks, of 2^48 ids.
const BlockSize = 4096

// Blocks allocates consecutive ids from blocks that are reserved ahead, so that an enqueue
// has its ids without asking the database (layout rule 11).
type Blocks struct {
	// mu is not held while a block is fetched: a fetch may wait for what another caller's
	// transaction holds, the write lock for instance.
	mu        sync.Mutex
	next, end int64         // the free ids: next … end−1
	spare     int64         // the first id of the block after that; 0: none
	drops     int           // how often everything was dropped
	fetching  chan struct{} // full while a goroutine fetches
}

// Take returns the first of n consecutive ids. When the blocks in memory are too short it
// reserves a new one with fetch, which returns its first id; concurrent callers share one
// reservation.
func (b *Blocks) Take(ctx context.Context, n int, fetch func(context.Context) (int64, error)) (int64, error) {
	if err := checkCount(n); err != nil {
		return 0, err
	}
	if lo, ok := b.TryTake(n); ok {
		return lo, nil
	}
	done, err := b.startFetch(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if lo, ok := b.TryTake(n); ok {
		return lo, nil
	}
	lo, err := b.fetch(ctx, fetch)
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if BlockSize-int64(n) > b.end-b.next {
		b.next, b.end = lo+int64(n), lo+BlockSize
	}
	return lo, nil
}

// TryTake is Take without fetching: ok is false when the blocks in memory are too short.
func (b *Blocks) TryTake(n int) (lo int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 1 || n > BlockSize {
		return 0, false
	}
	if b.end-b.next < int64(n) && b.spare != 0 {
		b.next, b.end, b.spare = b.spare, b.spare+BlockSize, 0
	}
	if b.end-b.next < int64(n) {
		return 0, false
	}
	lo = b.next
	b.next += int64(n)
	return lo, true
}

// Low reports whether the next block is to be fetched ahead.
func (b *Blocks) Low() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spare == 0 && b.end-b.next < BlockSize/2
}

// Refill fetches the next block ahead, unless there is one.
func (b *Blocks) Refill(ctx context.Context, fetch func(context.Context) (int64, error)) error {
	done, err := b.startFetch(ctx)
	if err != nil {
		return err
	}
	defer done()
	if !b.Low() {
		return nil
	}
	lo, err := b.fetch(ctx, fetch)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spare = lo
	return nil
}

// Drop discards all ids in memory: they belong to a history that the database no longer has.
func (b *Blocks) Drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next, b.end, b.spare = 0, 0, 0
	b.drops++
}

// fetch reserves a block. One that was requested before a Drop is not used: it may belong to
// the earlier history.
func (b *Blocks) fetch(ctx context.Context, fetch func(context.Context) (int64, error)) (int64, error) {
	for {
		before := b.dropped()
		lo, err := fetch(ctx)
		if err != nil || b.dropped() == before {
			return lo, err
		}
	}
}

func (b *Blocks) dropped() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.drops
}

// startFetch waits until no other goroutine fetches; done ends the fetch.
func (b *Blocks) startFetch(ctx context.Context) (done func(), err error) {
	slot := b.fetchSlot()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *Blocks) fetchSlot() chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fetching == nil {
		b.fetching = make(chan struct{}, 1)
	}
	return b.fetching
}

func checkCount(n int) error {
	if n < 1 || n > BlockSize {
		return fmt.Errorf("reserve ids: %d at once, want 1 to %d", n, BlockSize)
	}
	return nil
}
