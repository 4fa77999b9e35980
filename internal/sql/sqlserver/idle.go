package sqlserver

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// idleLimit is how long a connection may lie idle and still be taken for alive. Servers
// that restart and gateways that tidy up end connections that nobody uses, and neither the
// pool nor the driver looks: a transaction that is sent over one has an unknown outcome.
const idleLimit = time.Second

// idling are the connections that lie idle, and since when.
type idling struct {
	mu    sync.Mutex
	since map[any]time.Time
}

// put takes note that a connection is not used any more.
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

// take returns since when a connection lay idle; the zero time if that is not known.
func (i *idling) take(conn any) (since time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	since = i.since[conn]
	delete(i.since, conn)
	return since
}

// conn returns a connection of the pool. One that lay idle for long is asked first, and
// another one taken in the place of one that is gone.
func (db *DB) conn(ctx context.Context) (*sql.Conn, error) {
	for {
		conn, err := db.sql.Conn(ctx)
		if err != nil || !db.gone(ctx, conn) {
			return conn, err
		}
		_ = conn.Close() // the pool drops it
	}
}

// gone reports whether a connection ended while it lay idle.
func (db *DB) gone(ctx context.Context, conn *sql.Conn) bool {
	since := db.idle.take(driverOf(conn))
	return !since.IsZero() && time.Since(since) >= db.idleLimit && conn.PingContext(ctx) != nil && ctx.Err() == nil
}
