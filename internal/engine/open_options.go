package engine

import (
	"context"
	"log/slog"
	"time"
)

// OpenOptions says which database to open, for programs that open many: each engine
// has an Opener, and the program says which engines it links.
type OpenOptions struct {
	// URL names the database, "postgres://…", "sqlserver://…" or "sqlite:path".
	URL string
	// Schema and Prefix are as in Names.
	Schema, Prefix string
	// Connections is the most connections at once; 0: the engine's default.
	Connections int
	// Gate is passed by every connection that is opened; nil: no gate.
	Gate Gate
	// Logger is the engine's; nil means slog.Default().
	Logger *slog.Logger
}

// Opener opens a database. It makes no connection.
type Opener func(OpenOptions) (DB, error)

// Gate bounds the connections of several databases together. It is safe for
// concurrent use.
type Gate interface {
	// Enter waits until there is room for one more, or ctx ends.
	Enter(ctx context.Context) error
	// Leave gives the room back.
	Leave()
}

// Idler is a DB that can close the connections that nobody uses.
type Idler interface{ Idle() }

// Pooled is a DB that can tell how it is off for connections, without asking.
type Pooled interface{ PoolStats() PoolStats }

// PoolStats is what a pool of connections is at.
type PoolStats struct {
	InUse, Open int
	Max         int           // 0: no limit
	Waits       int64         // how often somebody had to wait for a connection
	Waited      time.Duration // and for how long, in all
}

// Losable is a DB whose files can change while they are open such that only a restart
// of the program helps.
type Losable interface {
	// Unmendable is closed when it is so.
	Unmendable() <-chan struct{}
	// Failure then tells what happened. It is an ErrFileLost.
	Failure() error
}

// Watched is a DB that can tell without a connection that nothing was written.
type Watched interface {
	// Fingerprint changes with every commit of anyone. ok is false if that cannot
	// be told just now.
	Fingerprint() (print string, ok bool)
}
