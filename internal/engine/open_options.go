package engine

import (
	"context"
	"log/slog"
	"time"
)

// OpenOptions describes a database to open, for programs that open many: each engine has an
// Opener, and the program chooses the engines it links.
type OpenOptions struct {
	// URL is the database's address, "postgres://…", "sqlserver://…" or "sqlite:path".
	URL string
	// Schema and Prefix are as in Names.
	Schema, Prefix string
	// Connections is the most connections at once; 0: the engine's default.
	Connections int
	// Gate limits connections: each is opened between Enter and Leave; nil: no limit.
	Gate Gate
	// Library is where the engine keeps and finds what databases have in common; nil: this one has
	// it for itself.
	Library *Library
	// Logger is the engine's; nil means slog.Default().
	Logger *slog.Logger
}

// Opened returns what an engine opened; with an error no DB, rather than one that holds a nil pointer.
func Opened[T DB](db T, err error) (DB, error) {
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Gate limits the connections of several databases together. It is safe for concurrent use.
type Gate interface {
	// Enter waits until one more connection is allowed, or ctx ends.
	Enter(ctx context.Context) error
	// Leave ends what Enter began.
	Leave()
}

// IdleCloser is a DB that can close its idle connections.
type IdleCloser interface{ CloseIdle() }

// handlersPerConnection is how many handlers may share a connection before WarnPool warns: with the
// default numbers of handlers and connections it is just reached.
const handlersPerConnection = 8

// WarnPool logs a warning if the pool of a database is far too small for so many handlers.
func WarnPool(ctx context.Context, log *slog.Logger, db DB, handlers int) {
	if most := PoolOf(db).Max; most > 0 && handlers > most*handlersPerConnection {
		log.WarnContext(ctx, "the pool of connections is small for so many handlers: those that use the database will wait for each other", "connections", most, "handlers", handlers)
	}
}

// PoolOf returns the state of the pool of a database, the zero value if it has none.
func PoolOf(db DB) (s PoolStats) {
	if p, ok := As[Pooled](db); ok {
		s = p.PoolStats()
	}
	return s
}

// Pooled is a DB that can report on its pool of connections, without a round trip.
type Pooled interface{ PoolStats() PoolStats }

// PoolStats is the state of a pool of connections.
type PoolStats struct {
	InUse, Open int
	Max         int           // 0: no limit
	Waits       int64         // how often a caller had to wait for a connection
	Waited      time.Duration // and for how long, in all
}

// FileWatcher is a DB whose files can change while they are open such that only a restart
// of the program helps.
type FileWatcher interface {
	// Lost is closed when that happened.
	Lost() <-chan struct{}
	// Failure returns the reason after that. It is an ErrFileLost.
	Failure() error
}

// Fingerprinter is a DB that can tell without a connection that nothing was written.
type Fingerprinter interface {
	// Fingerprint changes with every commit of any writer. ok is false if it cannot be
	// determined now.
	Fingerprint() (print string, ok bool)
}
