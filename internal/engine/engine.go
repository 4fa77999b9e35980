// Package engine is pawl's access to a database.
//
// A component (outbox, join, timer, …) contains no SQL. It calls an operation of a [DB] by
// name ("outbox/claim"), and an engine is a folder with a statement for each name:
// internal/sql/sqlite, internal/sql/postgres. What an engine does better than with a single
// statement (pipelining, group commit, push notifications) is behind the same interface.
package engine

import (
	"context"
	"time"
)

// Row is one row of a result. An error of Scan is about this row only: dest has the columns
// that could be read, and the rows after it can be read. Scan accepts *int64, *int, *string,
// *[]byte, *bool, *time.Time and *[16]byte, and pointers to pointers of those for columns
// that may be null. The caller may keep the values.
type Row interface {
	Scan(dest ...any) error
}

// Call is a call of one operation.
type Call struct {
	// Operation is the operation with its parameters.
	Operation Operation
	// Each is called for every row of the result; nil ignores them.
	Each func(Row) error
	// Reset is called before every attempt, to discard rows of an attempt that failed: before
	// anything of it is sent, and before the database's clock is read for it. May be nil.
	Reset func()
	// N is the number that the operation returns, or how many rows it changed, set when the
	// call returns.
	N int64
	// Generation is the DB's when the call was prepared, if the operation contains what is
	// valid in that generation only, such as ids. In another generation Do sends nothing
	// and returns [ErrGeneration]. 0: any.
	Generation int64
}

// Begin prepares the call for an attempt. Engines call it before they send anything.
func (c *Call) Begin() {
	c.N = 0
	if c.Reset != nil {
		c.Reset()
	}
}

// Name returns the operation's name, "outbox/claim".
func (c *Call) Name() string { return NameOf(c.Operation) }

// Run runs calls in the caller's transaction or, where tx is nil, in one of their own.
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

// MultiReader is a DB that answers several reads in one round trip. Find it with [As].
type MultiReader interface {
	// ReadAll runs calls that change nothing.
	ReadAll(ctx context.Context, calls ...*Call) error
}

// ReadAll runs calls that change nothing: in one round trip where the database can, and one after
// the other elsewhere.
func ReadAll(ctx context.Context, db DB, calls ...*Call) error {
	if m, ok := As[MultiReader](db); ok {
		return m.ReadAll(ctx, calls...)
	}
	for _, c := range calls {
		if err := db.Read(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Database is what programs call of a DB, as pawl.DB. Any number of processes may call Migrate concurrently (D-100).
// CheckSchema returns [ErrSchemaChanged] and [ErrSchemaDistributed], too. Waiters are closed before Close.
type Database interface {
	Migrate(ctx context.Context) error
	CheckSchema(ctx context.Context) error
	Close() error
}

// DB is an open database. It is safe for concurrent use. Capabilities that only some
// databases have are found with [As]; a type that wraps a DB therefore has a method
// Unwrap() DB.
type DB interface {
	Database

	// Engine returns the engine's name: "sqlite", "postgres" or "sqlserver".
	Engine() string

	// Do runs the calls in order in one transaction of its own, in one round trip where the
	// engine supports it. Deadlocks, serialization failures and a busy database are retried
	// with jitter at most five times (D-3). When ctx ends before the work was sent nothing
	// happened; work that was sent has a short grace period to finish, and an outcome that
	// cannot be known is [ErrCommitUnknown] (D-4).
	Do(ctx context.Context, calls ...*Call) error

	// Read runs one call that changes nothing. It never waits for writers.
	Read(ctx context.Context, call *Call) error

	// DoTx runs one call in the caller's transaction. Only operations whose file says so can
	// run there: N is the number of rows affected. One that returns rows needs a Querier. What is
	// no open transaction is refused with [ErrNotInTransaction].
	DoTx(ctx context.Context, tx Tx, call *Call) error

	// InTx runs fn in a transaction of its own, which is committed if fn returns nil and
	// rolled back if it returns an error or panics. tx offers more than ExecContext: on SQLite
	// it is a *sql.Tx, on PostgreSQL postgres.Pgx unwraps the pgx.Tx. On SQLite there is no
	// other writer meanwhile. fn is not retried: after a commit that fails for a transient
	// reason the caller has to repeat it.
	InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error

	// ReserveIDs returns the first of n consecutive ids that are reserved for the caller. A
	// rollback of tx leaves them unused. tx may be nil.
	ReserveIDs(ctx context.Context, tx Tx, n int) (int64, error)

	// ReserveInOrder is ReserveIDs for ids that tell the order of commits: they ascend, and are
	// above all that any process reserved so before. They need not be consecutive.
	ReserveInOrder(ctx context.Context, tx Tx, n int) ([]int64, error)

	// Generation returns a number that changes when the database's history does: when it lost
	// commits or was created again, by a failover to a replica, a restore, or a schema that was
	// dropped and created again. What a program keeps in memory of the database is valid for
	// one generation. A change is noticed with new connections, blocks of ids and heartbeats;
	// Generation itself makes no round trip.
	Generation() int64

	// Notify wakes this process's waiters of a queue. Call it after a commit that added work;
	// the operations themselves notify other processes.
	Notify(queue string)

	// Waiter returns a waiter for one queue. Close it when done.
	Waiter(queue string) Waiter
}

// Waiter lets a worker wait for work without frequent polls. The order that misses nothing
// is: Subscribe, poll once more if it returns true, Sleep. A Waiter is for one goroutine.
type Waiter interface {
	// Subscribe makes commits that add work from now on end the next Sleep. again is false if
	// the waiter was subscribed already, so that the last poll is still valid. After an error
	// only the poll interval ends a Sleep; after ErrUncommitted there will soon be work.
	Subscribe(ctx context.Context) (again bool, err error)
	// Unsubscribe ends the subscription while the worker is busy, so that producers need not
	// notify it.
	Unsubscribe()
	// Sleep returns true when there may be work, and false after d or when ctx
	// ends.
	Sleep(ctx context.Context, d time.Duration) bool
	// Close releases the waiter's resources.
	Close()
}
