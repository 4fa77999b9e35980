package pawl

import (
	"context"
	"database/sql"

	"github.com/bravellian/pawl/internal/engine"
)

// DB is a database that sqlite.Open or postgres.Open returned, for New. It is safe for concurrent use.
type DB interface {
	// Migrate is Pawl.Migrate.
	Migrate(ctx context.Context) error
	// CheckSchema returns ErrSchemaMissing, ErrSchemaOld or ErrSchemaNew, or nil if the schema is one
	// that this program works with.
	CheckSchema(ctx context.Context) error
	// Close closes what Open opened. Call it after Run has returned.
	Close() error
}

// Tx is a transaction that pawl began and hands to a handler or callback: on SQLite a
// *sql.Tx's, on PostgreSQL postgres.Pgx returns the pgx.Tx behind it. Where pawl takes a
// transaction of the program (the calls whose names end with Tx), it takes *sql.Tx, pgx.Tx
// on PostgreSQL, GORM's *gorm.DB, and what sqlx, bun and ent return, as they are.
type Tx = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// InvalidError is the error of a value that was refused before anything was written. It wraps
// [ErrInvalid]; errors.As finds it:
//
//	var invalid pawl.InvalidError
//	if errors.As(err, &invalid) && invalid.Field() == "payload" {
type InvalidError interface {
	error
	// Field returns the name of the field or option.
	Field() string
	// Limit returns the limit that was exceeded, or 0.
	Limit() int
	// Reason returns what is wrong with it, without the value.
	Reason() string
}

// MovedError is the error of a store that was moved to another database. It wraps [ErrMoved]; errors.As
// finds it.
type MovedError interface {
	error
	// Place returns the address of the new database, without a password; empty while a store is
	// moved into this one.
	Place() string
}

// The errors of databases, by what a program can do about them. Use errors.Is.
var (
	// ErrInvalid is returned for a value or option that is refused.
	ErrInvalid = engine.ErrInvalid
	// ErrNotInTransaction is returned where a program's transaction is expected and a pool,
	// or a connection outside a transaction, is given. Nothing was written.
	ErrNotInTransaction = engine.ErrNotInTransaction
	// ErrInTransaction is returned for a call made with the context of a function that runs in
	// one of pawl's transactions (Inbox.Once, HandleInboxTx, OnceTx), where the call would wait for
	// that transaction: on SQLite every write, and wherever the transaction has the pool's only
	// connection. The error names the call that takes the transaction. Nothing was written.
	ErrInTransaction = engine.ErrInTransaction
	// ErrCommitUnknown is returned when the reply to a commit was lost: it may have
	// happened. Repeating an enqueue with the same message id adds nothing twice.
	ErrCommitUnknown = engine.ErrCommitUnknown
	// ErrSerialization is returned when the transaction has to be rolled back and repeated as a
	// whole. See [Retryable], which also knows deadlocks.
	ErrSerialization = engine.ErrSerialization
	// ErrIsolation is returned by calls that need a read committed transaction.
	ErrIsolation = engine.ErrIsolation
	// ErrPosition is returned in a transaction of the program after the database was
	// restored or replaced: roll back and repeat.
	ErrPosition = engine.ErrPosition
	// ErrUnavailable is returned while a database cannot be used: it does not answer or not in time, takes no
	// connections, or the connection broke. Repeating helps once it can.
	ErrUnavailable = engine.ErrUnavailable
	// ErrBusy is returned when a lock was not granted in time.
	ErrBusy = engine.ErrBusy
	// ErrReadOnly is returned for writes on a standby or a read-only file.
	ErrReadOnly = engine.ErrReadOnly
	// ErrMoved is returned for writes to a store that was moved, or is being moved, to another
	// database: see pawl fleet move. Nothing was written; errors.As finds the new place in a
	// [MovedError]. Ask the fleet for the store again, and repeat the transaction there.
	ErrMoved = engine.ErrMoved
	// ErrClosed is returned after Close.
	ErrClosed = engine.ErrClosed
	// ErrFileLost is returned when a SQLite file was moved, deleted or replaced.
	ErrFileLost = engine.ErrFileLost
	// ErrSchemaMissing, ErrSchemaOld and ErrSchemaNew are returned when the database's
	// schema is not one that this program works with. Migrate helps for the first two.
	ErrSchemaMissing = engine.ErrSchemaMissing
	ErrSchemaOld     = engine.ErrSchemaOld
	ErrSchemaNew     = engine.ErrSchemaNew
)

// Retryable reports whether repeating the same call, or the whole transaction, may succeed: it changed
// nothing, and what kept it from succeeding was others that ran beside it. err may be pawl's or that of
// the driver of any database that pawl works with, as your own statements in the transaction and its
// commit return it.
func Retryable(err error) bool { return engine.Retryable(err) }
