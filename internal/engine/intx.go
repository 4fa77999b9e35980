package engine

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
)

// ErrInTransaction is returned by a call that was made with the context of a function that runs
// in a transaction of the same database, and that would wait for that transaction to end: for its
// own caller. Nothing was written.
var ErrInTransaction = errors.New("the call would wait for the transaction that its caller has open")

// TxContexts is a DB that knows the contexts of functions that run while a transaction of it is
// open. Find it with [As].
type TxContexts interface {
	// InsideTx returns the context for a function that runs while a transaction of this
	// database is open. end is to be called when the function has returned.
	InsideTx(ctx context.Context) (inside context.Context, end func())
	// CheckOutside returns [ErrInTransaction] for a call that would wait for the transaction
	// that a context is of. right is the call that runs in a transaction, "" if there is none.
	CheckOutside(ctx context.Context, call, right string) error
}

// WriteQueue is a DB with one writer at a time. Find it with [As].
type WriteQueue interface {
	// WritesWaiting returns how many calls of this process wait to write, or do so, and since
	// when none has begun to.
	WritesWaiting() (n int, since time.Time)
}

// InsideTx returns the context for a function that runs while a transaction of db is open; see
// [TxContexts].
func InsideTx(ctx context.Context, db DB) (inside context.Context, end func()) {
	if c, ok := As[TxContexts](db); ok {
		return c.InsideTx(ctx)
	}
	return ctx, func() {}
}

// CheckOutside is for calls that use the caller's transaction where there is one, as right does,
// and otherwise one of their own, which [TxContexts] may refuse.
func CheckOutside(ctx context.Context, db DB, tx Tx, right string) error {
	if tx != nil {
		return nil
	}
	return checkOutside(ctx, db, strings.TrimSuffix(right, "Tx"), right)
}

// OwnTx stands in place of a caller's transaction for one that the call begins itself.
type OwnTx struct{}

// TxFor returns the transaction in which a call is to run: the caller's, see [TxOf], or nil for [OwnTx], see
// [CheckOutside].
func TxFor(ctx context.Context, db DB, given any, right string) (Tx, error) {
	if given == (OwnTx{}) {
		return nil, CheckOutside(ctx, db, nil, right)
	}
	return TxOf(db, given)
}

// CheckLoop is for what would go on trying.
func CheckLoop(ctx context.Context, db DB, call string) error { return checkOutside(ctx, db, call, "") }

func checkOutside(ctx context.Context, db DB, call, right string) error {
	if ctx.Value(openTxKey{}) == nil { // do not open a database for this
		return nil
	}
	if c, ok := As[TxContexts](db); ok {
		return c.CheckOutside(ctx, call, right)
	}
	return nil
}

// InTransaction returns the error of a call that would wait for its own caller.
func InTransaction(call, right string) error {
	what := "make the call before or after that transaction"
	if right != "" {
		what = "use " + right + " with that transaction"
	}
	return &Error{Op: call, Class: ErrInTransaction, Err: errors.New(what)}
}

// openTx is what a context knows of a transaction that is open while its function runs.
type openTx struct {
	place any // of the database
	outer *openTx
	ended atomic.Bool
}

type openTxKey struct{}

// MarkTx is InsideTx for engines: place identifies the database, and is comparable.
func MarkTx(ctx context.Context, place any) (inside context.Context, end func()) {
	outer, _ := ctx.Value(openTxKey{}).(*openTx)
	tx := &openTx{place: place, outer: outer}
	return context.WithValue(ctx, openTxKey{}, tx), func() { tx.ended.Store(true) }
}

// Inside returns the transaction of the database at a place that is open while the function runs
// that a context is of, to be compared with others; nil if there is none. place is called only if
// one is open anywhere.
func Inside(ctx context.Context, place func() any) any {
	for tx, _ := ctx.Value(openTxKey{}).(*openTx); tx != nil; tx = tx.outer {
		if !tx.ended.Load() && tx.place == place() {
			return tx
		}
	}
	return nil
}
