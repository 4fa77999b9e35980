package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

const (
	// resetInterval is the shortest time between two resets of a pool. A reset closes all
	// connections that were made before it, so one for each error would add nothing but
	// connections, where the only server is read-only for long.
	resetInterval = time.Second
	// readOnlyLog is how often a read-only server is logged.
	readOnlyLog = time.Minute
)

// failover is what a DB remembers of servers that it left.
type failover struct {
	reset  lastTime // when the pool was reset
	logged lastTime // when a read-only server was logged
}

// lastTime is when something was last done.
type lastTime struct {
	mu sync.Mutex
	at time.Time
}

// since reports whether the last time was at least d ago. If so, now becomes the last time.
func (l *lastTime) since(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.at) < d {
		return false
	}
	l.at = now
	return true
}

// leaveReadOnly resets the pool after an error that says that the server takes no writes:
// it is a standby, or was demoted. The next connections resolve the hosts again, and with
// target_session_attrs=read-write lead to a server that takes writes.
func (db *DB) leaveReadOnly(err error) {
	if !isReadOnly(err) {
		return
	}
	db.redial()
	if db.failover.logged.since(readOnlyLog) {
		db.opts.Logger.Warn("the server takes no writes, its connections are closed and made anew", "hosts", hosts(db.pool.Config()))
	}
}

// leaveSilent resets the pool when a statement had no answer within StatementTimeout, which
// ended at latest: a server that is gone without a word has other connections in the pool,
// each of which would take as long.
func (db *DB) leaveSilent(err error, latest time.Time) {
	if err != nil && !time.Now().Before(latest) && driverr.SQLState(err) == "" {
		db.redial()
	}
}

// redial has all connections made anew, the listener's as well.
func (db *DB) redial() {
	if db.failover.reset.since(resetInterval) {
		db.pool.Reset()
		db.listen.reconnect()
	}
}

func isReadOnly(err error) bool {
	return errors.Is(err, engine.ErrReadOnly) || driverr.SQLState(err) == "25006"
}

// checkWritesLater checks in the background whether the server takes writes, after an error
// in a caller's transaction: that transaction may be read-only by its own choice.
func (db *DB) checkWritesLater(err error) {
	if !isReadOnly(err) {
		return
	}
	db.ahead.Run(func(ctx context.Context) {
		if refusals, unread := db.CheckWrites(ctx); unread == nil && len(refusals) > 0 {
			db.leaveReadOnly(err)
		}
	})
}

// noPrimary reports whether a connection was refused because a server takes no writes.
func noPrimary(err error) bool {
	return errors.Is(err, pgconn.ErrReadOnlyConnection) || errors.Is(err, pgconn.ErrStandbyConnection)
}

// hosts returns the hosts of a connection string, without user, password and database.
func hosts(config *pgxpool.Config) string {
	c := config.ConnConfig
	list := []string{fmt.Sprintf("%s:%d", c.Host, c.Port)}
	for _, f := range c.Fallbacks {
		if host := fmt.Sprintf("%s:%d", f.Host, f.Port); host != list[len(list)-1] { // sslmode=prefer has each host twice
			list = append(list, host)
		}
	}
	return strings.Join(list, ",")
}
