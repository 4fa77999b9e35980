package sqlserver

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// idleLimit is how long a connection may be idle and still be assumed alive. Servers that
// restart and gateways close idle connections, and neither the pool nor the driver checks: a
// transaction that is sent over one has an unknown outcome.
const idleLimit = time.Second

// idling has the idle connections, and since when they are.
type idling struct {
	mu    sync.Mutex
	since map[any]time.Time
}

// put records that a connection is idle from now on.
func (i *idling) put(conn any) {
	if conn == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.since == nil || len(i.since) >= maxKnown { // some of them were closed meanwhile
		i.since = map[any]time.Time{}
	}
	i.since[conn] = time.Now()
}

// take returns since when a connection was idle; the zero time if that is not known.
func (i *idling) take(conn any) (since time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	since = i.since[conn]
	delete(i.since, conn)
	return since
}

// conn returns a connection of the pool. One that was idle for long is pinged first, and
// replaced if it is gone.
func (db *DB) conn(ctx context.Context) (*sql.Conn, error) {
	for {
		conn, err := db.sql.Conn(ctx)
		if err != nil || !db.gone(ctx, conn) {
			return conn, err
		}
		_ = conn.Close() // the pool drops it
	}
}

// gone reports whether a connection was closed while it was idle.
func (db *DB) gone(ctx context.Context, conn *sql.Conn) bool {
	since := db.idle.take(driverOf(conn))
	return !since.IsZero() && time.Since(since) >= db.idleLimit && conn.PingContext(ctx) != nil && ctx.Err() == nil
}
