// Package sqlserver opens SQL Server databases for pawl, version 2016 (compatibility level
// 130) and later, and Azure SQL, through go-mssqldb.
//
// The package is a preview: no SQL Server has run it.
//
// Nothing wakes the workers of other processes: they poll. Turn READ_COMMITTED_SNAPSHOT
// on for the database, or whoever reads waits for whoever writes.
package sqlserver

import (
	"database/sql"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	impl "github.com/bravellian/pawl/sqlserver/internal/sqlserver"
)

// Options configure a database. The zero value is right for most programs.
type Options struct {
	// Schema holds pawl's tables and procedures, default "pawl".
	Schema string
	// Prefix is put before the name of every table and procedure, default none.
	Prefix string
	// StatementTimeout bounds every transaction and, of a migration, every batch. Default
	// 30 s.
	StatementTimeout time.Duration
	// LockTimeout bounds how long a migration waits for a table, so that it does not
	// block every program that queues behind it. Default 5 s.
	LockTimeout time.Duration
	// Logger gets a record whenever the database's history changed. Default
	// slog.Default().
	Logger *slog.Logger
}

// Open returns a database on a pool of its own, which connects to the server that a
// sqlserver:// URL or an ADO.NET connection string (Server=…;Database=…) names. It may hold
// everything that go-mssqldb understands. No connection is made before it is needed; errors
// do not quote it. Close closes the pool.
//
// SQL Server is a preview: no SQL Server has run it.
func Open(url string, opts ...Options) (pawl.DB, error) {
	return engine.Opened(impl.Open(url, options(opts)...))
}

// New returns a database on a pool that the caller owns; Close leaves the pool open. pawl's
// own transactions run at read committed, whatever level the connections were left with.
func New(pool *sql.DB, opts ...Options) (pawl.DB, error) {
	return engine.Opened(impl.New(pool, options(opts)...))
}

func options(opts []Options) (all []impl.Options) {
	for _, o := range opts {
		all = append(all, impl.Options(o))
	}
	return all
}

// OpenURL opens a database of a fleet by its sqlserver:// URL; a program gives it to
// fleet.Options.
func OpenURL(o engine.OpenOptions) (engine.DB, error) { return impl.OpenURL(o) }

// SQL returns the pool of a database, for the program's own tables and transactions. It
// returns nil for a database that is not SQL Server.
func SQL(db pawl.DB) *sql.DB {
	if own, ok := engine.As[*impl.DB](db); ok {
		return own.SQL()
	}
	return nil
}
