// Package anydriver opens a SQLite database for pawl with whatever driver the program
// links. It links none itself; package sqlite opens files with modernc.org/sqlite.
package anydriver

import (
	"database/sql"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
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

// New returns a database on a pool that the caller owns; Close leaves the pool open. The
// error names an option that is invalid, or what of the pool's settings is.
func New(pool *sql.DB, opts ...Options) (pawl.DB, error) {
	var o []anydriver.Options
	for _, given := range opts {
		o = append(o, anydriver.Options(given))
	}
	return engine.Opened(anydriver.New(pool, o...))
}
