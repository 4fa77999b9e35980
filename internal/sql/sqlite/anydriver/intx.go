package anydriver

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
)

// There is one writer at a time: a write inside a transaction of its own caller waits until it
// gives up. Readers wait for no writer while the journal is a write-ahead log.

// InsideTx returns the context of a function that runs in a transaction; see engine.TxContexts.
func (db *DB) InsideTx(ctx context.Context) (inside context.Context, end func()) {
	return engine.MarkTx(ctx, db.identity(ctx))
}

// CheckOutside refuses every write inside a transaction; see engine.TxContexts.
func (db *DB) CheckOutside(ctx context.Context, call, right string) error {
	if db.inside(ctx) {
		return engine.InTransaction(call, right)
	}
	return nil
}

// inside reports whether a context is of a function that runs in a transaction of this database.
func (db *DB) inside(ctx context.Context) bool {
	return engine.Inside(ctx, func() any { return db.identity(ctx) }) != nil
}

// impatient makes the session's connection wait for no lock, until usual is called.
func (s *session) impatient() (usual func()) {
	_ = s.once("PRAGMA busy_timeout = 0", nil)
	return func() { _ = s.once("PRAGMA busy_timeout = 5000", nil) }
}

// identity is the same for all that have the same file open, as far as that can be known.
func (db *DB) identity(ctx context.Context) any {
	id := db.guard.identity()
	if watches && id.missing() { // no connection was made yet
		_ = db.reading(ctx, func(*session) error { return nil })
		id = db.guard.identity()
	}
	if id.missing() {
		return db
	}
	return id
}

// identity returns the database's file; the zero value if it is not known.
func (g *guard) identity() fileID {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.own
}
