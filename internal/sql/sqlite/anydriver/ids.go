package anydriver

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// ReserveIDs takes ids from this process's blocks. For callers' transactions the next block is
// fetched ahead, in the background, in a transaction of its own. Such a transaction may hold the
// write lock, so when the blocks are short its ids are reserved inside it: a rollback undoes the
// reservation together with their use. This process does not allocate such ids again in any
// case: message ids were made of them.
func (db *DB) ReserveIDs(ctx context.Context, tx engine.Tx, n int) (int64, error) {
	if tx == nil {
		if err := db.CheckOutside(ctx, "reserve ids", ""); err != nil { // or it waits for others that fetch a block
			return 0, err
		}
		return db.ids.Take(ctx, n, db.block)
	}
	lo, ok := db.ids.TryTake(n)
	var err error
	if !ok {
		var last int64
		last, err = db.reserveUnused(func(c *engine.Call) error { return db.DoTx(ctx, tx, c) }, n)
		lo = last - int64(n) + 1
	}
	// Reserving ids takes a statement and two pages of the log: done in each transaction of a caller,
	// that was a quarter of the time of enqueuing one message.
	if db.ids.Low() {
		db.ahead.Run(func(ctx context.Context) {
			_ = db.ids.Refill(ctx, db.block) // the next caller tries again, and a caller that needs it returns the error
		})
	}
	return lo, err
}

// ReserveInOrder reserves ids under the write lock, so they are above all that other processes
// reserved before.
func (db *DB) ReserveInOrder(ctx context.Context, tx engine.Tx, n int) ([]int64, error) {
	last, err := db.reserveUnused(func(c *engine.Call) error { return engine.Run(ctx, db, tx, c) }, n)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = last - int64(n-1-i)
	}
	return ids, nil
}

// reserveUnused reserves n ids inside a caller's transaction, and returns the last. What this
// process reserved so before, in a transaction that may have been rolled back, is left out.
func (db *DB) reserveUnused(do func(*engine.Call) error, n int) (last int64, err error) {
	last, err = db.reserve(do, n)
	if again := db.given.Load() - (last - int64(n)); err == nil && again > 0 {
		last, err = db.reserve(do, int(again))
	}
	if err != nil {
		return 0, err
	}
	for given := db.given.Load(); given < last && !db.given.CompareAndSwap(given, last); given = db.given.Load() {
	}
	return last, nil
}

// block reserves a block of ids above those that were reserved inside callers' transactions.
func (db *DB) block(ctx context.Context) (first int64, err error) {
	for {
		last, err := db.reserve(func(c *engine.Call) error { return db.Do(ctx, engine.Ask(op.GenerationCheck{}), c) }, engine.BlockSize)
		if err == nil {
			db.generations.RecordWrite(last)
		}
		if first = last - engine.BlockSize + 1; err != nil || first > db.given.Load() {
			return first, err
		}
	}
}

func (db *DB) reserve(do func(*engine.Call) error, n int) (last int64, err error) {
	call := &engine.Call{Operation: outboxReserve{N: int64(n)}}
	err = do(call)
	return call.N, err
}
