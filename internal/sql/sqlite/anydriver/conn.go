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

// connector makes connections whose transactions begin immediate, one at a time in this
// process, and wait for other processes by random polls, so that none starves.
type connector struct {
	driver.Connector
	lock  chan struct{}
	guard *guard
	again driver.Connector   // makes all connections but the first; nil: Connector does
	used  atomic.Bool        // there was a first one
	of    atomic.Pointer[DB] // what the connections are for; nil: they keep nothing prepared
}

// keeps reports whether connections keep a statement prepared: pawl's own, which callers'
// transactions run again and again, and those that begin and end every transaction.
func (c *connector) keeps(query string) bool {
	of := c.of.Load()
	if of == nil {
		return false
	}
	return query == begin || query == commit || query == rollback || of.folder.Rendered(query)
}

const begin, commit, rollback = "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"

// source makes connections with a driver that has only Open.
type source struct {
	driver driver.Driver
	name   string
}

func (s source) Connect(context.Context) (driver.Conn, error) { return s.driver.Open(s.name) }

func (s source) Driver() driver.Driver { return s.driver }

// rawConn is a driver's connection with context support.
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

// Connect opens a connection. When several processes open a new file at once, one switches
// it to WAL; SQLite returns busy to the others whatever their busy timeout, so this retries.
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
	for errors.Is(classify(err), engine.ErrBusy) && lockDelay(ctx) == nil {
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
	ses := newSession(full)
	hold, err := c.guard.enter(ctx, ses)
	if err != nil {
		return nil, errors.Join(err, full.Close())
	}
	return &conn{rawConn: full, from: c, lock: c.lock, guard: c.guard, open: hold, ses: ses}, nil
}

// conn is a connection for the program's own use.
type conn struct {
	rawConn
	from   *connector
	lock   chan struct{}
	guard  *guard
	open   *openFiles // the files it has open
	ses    *session   // has the statements that are kept prepared
	closed bool
}

// ExecContext executes a statement. Those that the connector keeps are prepared once: parsing
// them was a third of the processor time of a transaction that enqueues one message. They are
// short, so they do not watch ctx, which takes modernc a goroutine for each.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	st := c.ses.stmts[query]
	if st == nil && !c.from.keeps(query) {
		return c.rawConn.ExecContext(ctx, query, args)
	}
	err := ctx.Err()
	if err == nil && st == nil {
		st, err = c.ses.prepare(query)
	}
	if err != nil {
		return nil, err
	}
	return st.ExecContext(context.Background(), args)
}

// stale reports whether the connection must not be used any more: the database was lost or
// opened again.
func (c *conn) stale() bool { return c.open != c.guard.open.Load() || c.guard.lost.Load() != nil }

// ResetSession is called before the connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.stale() {
		return driver.ErrBadConn
	}
	return c.rawConn.ResetSession(ctx)
}

// IsValid is called before the connection goes back to the pool.
func (c *conn) IsValid() bool { return !c.stale() && c.rawConn.IsValid() }

// Close closes the connection, unless that would write a stale log into the file: then it
// stays open until the process ends.
func (c *conn) Close() error {
	if c.closed || c.open.logReplaced.Load() {
		return nil
	}
	c.closed = true
	c.ses.close()
	defer c.guard.leave(c.open)()
	return c.rawConn.Close()
}

// BeginTx begins an immediate transaction, or a deferred one if it is read-only. A deferred
// transaction that begins to write fails at once with SQLITE_BUSY_SNAPSHOT, whatever the
// busy timeout.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if opts.ReadOnly {
		return c.rawConn.BeginTx(ctx, opts)
	}
	of := c.from.of.Load()
	if of != nil {
		if err := of.CheckOutside(ctx, "begin", ""); err != nil {
			return nil, err
		}
		of.queue.enter()
		defer of.queue.leave()
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	if err := acquire(ctx, c.lock); err != nil {
		return nil, err
	}
	if err := beginImmediate(ctx, c); err != nil {
		<-c.lock
		return nil, err
	}
	if c.check() != nil { // then the pool makes another connection, which opens the database again
		_, _ = c.ExecContext(context.Background(), rollback, nil)
		<-c.lock
		return nil, driver.ErrBadConn
	}
	t := &tx{c: c}
	if of != nil {
		of.queue.began()
		t.watch = &of.watch
		t.watch.ownBegin()
	}
	return t, nil
}

// tx ends what BeginTx began.
type tx struct {
	c     *conn
	watch *watcher // may be nil
}

// end releases the write lock.
func (t *tx) end() {
	<-t.c.lock
	if t.watch != nil {
		t.watch.ownEnd(nil)
	}
}

// check compares the files with those that the connection has open.
func (c *conn) check() error {
	err := c.guard.check()
	if err == nil && c.stale() { // it was opened again meanwhile
		err = fmt.Errorf("%w: it was opened again during the transaction", engine.ErrFileLost)
	}
	return err
}

func (t *tx) Commit() error {
	defer t.end()
	if err := t.c.check(); err != nil {
		_, _ = t.c.ExecContext(context.Background(), rollback, nil)
		return err
	}
	_, err := t.c.ExecContext(context.Background(), commit, nil)
	if err != nil { // a failed COMMIT may leave the transaction open
		_, _ = t.c.ExecContext(context.Background(), rollback, nil)
		return err
	}
	return t.c.guard.committed()
}

func (t *tx) Rollback() error {
	defer t.end()
	_, err := t.c.ExecContext(context.Background(), rollback, nil)
	return err
}

// acquire takes the process's write lock. The usual cause of its error is a transaction of
// the same process that stays open for too long.
func acquire(ctx context.Context, lock chan struct{}) error {
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errors.Join(engine.ErrBusy, errors.New("another transaction of this process holds the write lock"), ctx.Err())
	}
}

// beginImmediate takes the file's write lock. SQLite's busy handler sleeps longer each time
// and so starves one of two busy processes completely; short random delays share the lock
// evenly.
func beginImmediate(ctx context.Context, c driver.ExecerContext) error {
	const quiet, usual = "PRAGMA busy_timeout=0", "PRAGMA busy_timeout=5000"
	if _, err := c.ExecContext(context.Background(), quiet, nil); err != nil {
		return err
	}
	defer func() { _, _ = c.ExecContext(context.Background(), usual, nil) }()
	for {
		_, err := c.ExecContext(context.Background(), begin, nil)
		if err == nil || !errors.Is(classify(err), engine.ErrBusy) {
			return err
		}
		if lockDelay(ctx) != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

func lockDelay(ctx context.Context) error {
	return engine.Sleep(ctx, 200*time.Microsecond+rand.N(1800*time.Microsecond))
}
