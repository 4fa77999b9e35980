package anydriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// connector hands out connections whose transactions are immediate, take turns
// within the process and wait fairly for other processes.
type connector struct {
	driver.Connector
	lock  chan struct{}
	guard *guard
	again driver.Connector // for all connections but the first; nil: the same
	used  atomic.Bool      // there was a first one
}

// source makes connections with a driver that knows only data sources' names.
type source struct {
	driver driver.Driver
	name   string
}

func (s source) Connect(context.Context) (driver.Conn, error) { return s.driver.Open(s.name) }

func (s source) Driver() driver.Driver { return s.driver }

// rawConn is what modernc's connection offers beyond driver.Conn.
type rawConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// Connect opens a connection. Of processes that open a new file at once one
// switches it to WAL; SQLite turns the others away whatever their busy timeout.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.guard.admit(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	from := c.Connector
	if c.again != nil && c.used.Load() {
		from = c.again
	}
	raw, err := from.Connect(ctx)
	for errors.Is(classify(err), engine.ErrBusy) && pause(ctx) == nil {
		raw, err = from.Connect(ctx)
	}
	if err != nil {
		return nil, err
	}
	full, ok := raw.(rawConn)
	if !ok {
		return nil, errors.New("sqlite: the driver's connection lacks context support")
	}
	c.used.Store(true)
	hold, err := c.guard.enter(ctx, newSession(full))
	if err != nil {
		return nil, errors.Join(err, full.Close())
	}
	return &conn{rawConn: full, lock: c.lock, guard: c.guard, hold: hold}, nil
}

// conn is a connection for the program's own use.
type conn struct {
	rawConn
	lock   chan struct{}
	guard  *guard
	hold   *hold // what it has open
	closed bool
}

// stale reports whether the connection is to be used no more: the database was lost
// or opened anew.
func (c *conn) stale() bool { return c.hold != c.guard.hold.Load() || c.guard.lost.Load() != nil }

// ResetSession is asked before the connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.stale() {
		return driver.ErrBadConn
	}
	return c.rawConn.ResetSession(ctx)
}

// IsValid is asked before the connection is kept.
func (c *conn) IsValid() bool { return !c.stale() && c.rawConn.IsValid() }

// Close closes the connection, unless that would do harm: then it stays open until
// the process ends.
func (c *conn) Close() error {
	if c.closed || c.hold.torn.Load() {
		return nil
	}
	c.closed = true
	defer c.guard.leave(c.hold)()
	return c.rawConn.Close()
}

// BeginTx begins an immediate transaction, or a deferred one if it is to be
// read-only. A deferred transaction that turns to writing fails at once with
// SQLITE_BUSY_SNAPSHOT, whatever the busy timeout.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if opts.ReadOnly {
		return c.rawConn.BeginTx(ctx, opts)
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	if err := acquire(ctx, c.lock); err != nil {
		return nil, err
	}
	if err := beginImmediate(ctx, c.rawConn); err != nil {
		<-c.lock
		return nil, err
	}
	if c.check() != nil { // then the pool makes another connection, for which the database is opened anew
		_, _ = c.ExecContext(context.Background(), "ROLLBACK", nil)
		<-c.lock
		return nil, driver.ErrBadConn
	}
	return &tx{c}, nil
}

// tx ends what BeginTx began.
type tx struct{ c *conn }

// check looks whether the files are those that the connection has open.
func (c *conn) check() error {
	err := c.guard.check()
	if err == nil && c.stale() { // it was opened anew meanwhile
		err = fmt.Errorf("%w: it was opened anew during the transaction", engine.ErrFileLost)
	}
	return err
}

func (t *tx) Commit() error {
	defer func() { <-t.c.lock }()
	if err := t.c.check(); err != nil {
		_, _ = t.c.ExecContext(context.Background(), "ROLLBACK", nil)
		return err
	}
	_, err := t.c.ExecContext(context.Background(), "COMMIT", nil)
	if err != nil { // a failed COMMIT may leave the transaction open
		_, _ = t.c.ExecContext(context.Background(), "ROLLBACK", nil)
		return err
	}
	return t.c.guard.committed()
}

func (t *tx) Rollback() error {
	defer func() { <-t.c.lock }()
	_, err := t.c.ExecContext(context.Background(), "ROLLBACK", nil)
	return err
}

// acquire takes the process's write lock. A transaction of the same process
// that is held open for too long is the usual cause of the error.
func acquire(ctx context.Context, lock chan struct{}) error {
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errors.Join(engine.ErrBusy, errors.New("another transaction of this process holds the write lock"), ctx.Err())
	}
}

// beginImmediate takes the file's write lock. SQLite's busy handler sleeps ever
// longer and so starves one of two busy processes completely; short random
// pauses share the lock out evenly.
func beginImmediate(ctx context.Context, c driver.ExecerContext) error {
	const quiet, usual = "PRAGMA busy_timeout=0", "PRAGMA busy_timeout=5000"
	if _, err := c.ExecContext(context.Background(), quiet, nil); err != nil {
		return err
	}
	defer func() { _, _ = c.ExecContext(context.Background(), usual, nil) }()
	for {
		_, err := c.ExecContext(context.Background(), "BEGIN IMMEDIATE", nil)
		if err == nil || !errors.Is(classify(err), engine.ErrBusy) {
			return err
		}
		if pause(ctx) != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

func pause(ctx context.Context) error {
	return engine.Sleep(ctx, 200*time.Microsecond+rand.N(1800*time.Microsecond))
}
