// Package sqlite opens SQLite databases for pawl: embedded, no server, durable by
// default. It uses modernc.org/sqlite, which is SQLite without cgo and registers itself
// as "sqlite".
//
// A program with another driver gives package anydriver its pool, and links no other.
package sqlite

import (
	"database/sql"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	impl "github.com/bravellian/pawl/internal/sql/sqlite"
	driven "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
)

// Options configure a database. The zero value is right for most programs.
type Options struct {
	// Prefix is put before the name of every table, default none.
	Prefix string
	// Relaxed sets synchronous=NORMAL: a power failure may then undo the last commits; a crash of the process cannot.
	// Default: synchronous=FULL.
	Relaxed bool
	// KeepJournal leaves the file's journal mode as it is. Default: WAL is turned on.
	KeepJournal bool
	// StatementTimeout bounds every transaction, waiting for the write lock included. Default 30 s.
	StatementTimeout time.Duration
	// WatchEvery is how often idle workers check, together, for commits of transactions that pawl did not make: the
	// program's own, and other processes'. Default: on Linux they do not, the system reports writes to the file's log;
	// elsewhere, and where it reports nothing, a sixteenth of the time between the last commits or since the last, at
	// least 1 ms and at most 50 ms. A check takes an idle process 0.1 to 0.25 ms of processor time, a busy one 5 µs.
	WatchEvery time.Duration
	// Now is the database's clock, default time.Now.
	Now func() time.Time
	// Logger gets a record when the file or its log is deleted or replaced while it is open, when it was reopened, and
	// when the database's history changed. Default slog.Default().
	Logger *slog.Logger
}

// Open opens, and if need be creates, the database file at path, in WAL mode unless
// Options say otherwise. path may also be a "file:" URI with parameters of
// modernc.org/sqlite. Close closes the file.
func Open(path string, opts ...Options) (pawl.DB, error) {
	return engine.Opened(impl.Open(path, options(opts)...))
}

// New returns a database on a pool that the caller owns; see anydriver.New.
func New(pool *sql.DB, opts ...Options) (pawl.DB, error) {
	return engine.Opened(impl.New(pool, options(opts)...))
}

func options(opts []Options) (all []impl.Options) {
	for _, o := range opts {
		all = append(all, impl.Options(o))
	}
	return all
}

// OpenURL opens a database of a fleet by "sqlite:path"; a program gives it to
// fleet.Options.
func OpenURL(o engine.OpenOptions) (engine.DB, error) { return impl.OpenURL(o) }

// SQL returns the pool of a database, for the program's own tables and transactions. It
// returns nil for a database that is not SQLite.
func SQL(db pawl.DB) *sql.DB {
	if own, ok := engine.As[*driven.DB](db); ok {
		return own.SQL()
	}
	return nil
}
