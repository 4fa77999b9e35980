// Package engine is pawl's door to a database.
//
// A component (outbox, join, timer, …) never writes SQL. It asks a [DB] for an
// operation by name ("outbox/claim"), and an engine is a folder of SQL that
// answers those names: engine/sqlite, engine/postgres. What an engine can do
// better than a single statement (pipelining, group commit, push wake-ups)
// hides behind the same door.
package engine

import (
	"context"
	"time"
)

// Row is one row of an answer. An error of Scan is about this row alone: what
// can be read of it is in dest, and the rows after it can be read. Scan understands *int64, *int, *string,
// *[]byte, *bool, *time.Time and [16]byte pointers, and pointers to pointers
// of those for columns that may be null. What it fills is the caller's to keep.
type Row interface {
	Scan(dest ...any) error
}

// Call asks for one operation.
type Call struct {
	// Operation is what is asked for.
	Operation Operation
	// Each is called for every row of the answer; nil ignores them.
	Each func(Row) error
	// Reset is called before every attempt, so that rows collected by an
	// attempt that is then retried are forgotten. May be nil.
	Reset func()
	// N is the number that the operation answers, or how many rows it changed, set
	// when the call returns.
	N int64
	// Generation is the DB's when the call was prepared, if the operation holds
	// what is true in that generation only: ids, lanes that are left out. In
	// another one Do sends nothing and returns [ErrGeneration]. 0: any.
	Generation int64
}

// Name is the operation's, "outbox/claim".
func (c *Call) Name() string { return NameOf(c.Operation) }

// Run runs calls in the caller's transaction or, where tx is nil, in one of
// their own.
func Run(ctx context.Context, db DB, tx Tx, calls ...*Call) error {
	if tx == nil {
		return db.Do(ctx, calls...)
	}
	for _, c := range calls {
		if err := db.DoTx(ctx, tx, c); err != nil {
			return err
		}
	}
	return nil
}

// DB is one opened database. It is safe for concurrent use. What only some
// databases can do is found with [As]; a type that wraps a DB therefore has a
// method Unwrap() DB.
type DB interface {
	// Engine names the engine: "sqlite", "postgres" or "sqlserver".
	Engine() string

	// Do runs the calls in order in one transaction of its own, in one round
	// trip where the engine can. Deadlocks, serialization failures and a busy
	// database are retried with jitter at most five times (D-3). When ctx ends
	// before the work was sent nothing happened; once it is under way it is
	// given a short grace to finish, and an outcome that cannot be known is
	// [ErrCommitUnknown] (D-4).
	Do(ctx context.Context, calls ...*Call) error

	// Read runs one call that changes nothing. It never waits for writers.
	Read(ctx context.Context, call *Call) error

	// DoTx runs one call in the caller's transaction. Only operations whose
	// file says so can run there: all it may use is rows affected. What is no open
	// transaction is refused with [ErrNotInTransaction].
	DoTx(ctx context.Context, tx Tx, call *Call) error

	// InTx runs fn in a transaction of its own, which is committed if fn returns
	// nil and rolled back if it returns an error or panics. tx can do more than
	// execute: on SQLite it is a *sql.Tx, on PostgreSQL postgres.Pgx unwraps the
	// pgx.Tx. On SQLite nobody else writes meanwhile. fn is not called again: a
	// commit that fails for a passing reason is the caller's to repeat.
	InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error

	// ReserveIDs returns the first of n consecutive ids nobody else gets. The
	// ids outlive a rollback of tx unused. tx may be nil.
	ReserveIDs(ctx context.Context, tx Tx, n int) (int64, error)

	// Migrate brings the schema up to date. It is idempotent and safe with any
	// number of processes doing it at once (D-100).
	Migrate(ctx context.Context) error

	// CheckSchema says whether the schema is the one this build needs:
	// nil, [ErrSchemaMissing], [ErrSchemaOld], [ErrSchemaNew] or
	// [ErrSchemaChanged].
	CheckSchema(ctx context.Context) error

	// Generation is a number that changes when the database's history does: when it
	// lost commits or was made anew, by a failover to a replica, a restore, a schema
	// dropped and made again. What a program remembers of the database holds for one
	// generation. A change is noticed with new connections, blocks of ids and
	// heartbeats; Generation itself asks nothing.
	Generation() int64

	// Ring wakes this process's sleepers of a queue. Call it after a commit
	// that made work; other processes are told by the operations themselves.
	Notify(queue string)

	// Waiter returns a sleeper for one queue. Close it when done.
	Waiter(queue string) Waiter

	// Close releases what Open opened. Sleepers must be closed first.
	Close() error
}

// Waiter lets a worker wait for work without polling hard. The order that
// misses nothing is: Arm, look for work once more if it says so, Sleep.
// A Waiter is for one goroutine.
type Waiter interface {
	// Arm makes commits that add work from now on end the next Sleep. again is
	// false if it was armed all along, so that the last look still counts. An
	// error means that only the poll interval is left to wake the worker.
	Subscribe(ctx context.Context) (again bool, err error)
	// Unsubscribe says the worker is busy, so that producers need not wake it.
	Unsubscribe()
	// Sleep returns true when there may be work, and false after d or when ctx
	// ends.
	Sleep(ctx context.Context, d time.Duration) bool
	// Close frees the sleeper.
	Close()
}
