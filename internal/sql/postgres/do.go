package postgres

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
)

// Do sends the calls as one pipeline: one round trip and one implicit
// transaction, which the server commits at its end.
func (db *DB) Do(ctx context.Context, calls ...*engine.Call) error {
	return engine.Retry(ctx, func() error {
		latest := time.Now().Add(db.opts.StatementTimeout)
		wait, stop := context.WithDeadline(ctx, latest)
		defer stop()
		conn, err := db.acquire(wait, db.name(calls[0]))
		if err != nil {
			db.leaveSilent(err, latest)
			return err // nothing was sent
		}
		defer conn.Release()
		if err := engine.CheckGeneration(db.Generation(), calls); err != nil {
			return err
		}
		if err := db.stillLocal(wait, db.name(calls[0]), ownRow(conn)); err != nil {
			db.leaveSilent(err, latest)
			return err
		}
		deadline, _ := wait.Deadline()
		ctx, cancel := engine.Detach(ctx, time.Until(deadline))
		defer cancel()
		err = db.asDistributed(ctx, conn, calls, db.pipeline(ctx, conn.Conn(), calls, engine.ErrCommitUnknown))
		db.leaveSilent(err, latest)
		return err
	})
}

// Read runs one call that changes nothing.
func (db *DB) Read(ctx context.Context, call *engine.Call) error { return db.ReadAll(ctx, call) }

// ReadAll runs calls that change nothing, in one round trip and one transaction.
func (db *DB) ReadAll(ctx context.Context, calls ...*engine.Call) error {
	return engine.Retry(ctx, func() error {
		latest := time.Now().Add(db.opts.StatementTimeout)
		ctx, cancel := context.WithDeadline(ctx, latest)
		defer cancel()
		conn, err := db.acquire(ctx, db.name(calls[0]))
		if err != nil {
			db.leaveSilent(err, latest)
			return err
		}
		defer conn.Release()
		err = db.asDistributed(ctx, conn, calls, db.pipeline(ctx, conn.Conn(), calls, engine.ErrConnLost))
		db.leaveSilent(err, latest)
		return err
	})
}

func (db *DB) acquire(ctx context.Context, op string) (*pgxpool.Conn, error) {
	if db.closed.Load() {
		return nil, &engine.Error{Op: op, Class: engine.ErrClosed, Err: errors.New("postgres")}
	}
	if err := db.CheckOutside(ctx, op, ""); err != nil {
		return nil, err
	}
	conn, err := db.pool.Acquire(ctx)
	if err == nil {
		if err := db.checkEncoding(conn.Conn().PgConn()); err != nil {
			conn.Release()
			return nil, err
		}
		if err = db.checkConnection(ctx, conn.Conn()); err == nil {
			return conn, nil
		}
		conn.Release()
	}
	class := unreachable(ctx, err)
	if db.closed.Load() {
		class = engine.ErrClosed
	}
	return nil, &engine.Error{Op: op, Class: class, Err: db.redact(notReached(err, class))}
}

// redact removes the password from a driver's error, should it contain one (D-5).
func (db *DB) redact(err error) error {
	c := db.pool.Config().ConnConfig
	if text := dsn.Scrub(err.Error(), c.Password, c.User, c.Database, c.Host); text != err.Error() {
		return &rewordedError{text, err}
	}
	return err
}

// statement returns the statement of an operation.
func (db *DB) statement(o engine.Operation) (*engine.Statement, error) {
	if s := db.folder.Statement(o); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("postgres: unknown operation %q", engine.NameOf(o))
}

// name returns the name of a call's operation: its statement has it, and computing it from
// the type takes 170 ns.
func (db *DB) name(c *engine.Call) string {
	if s := db.folder.Statement(c.Operation); s != nil {
		return s.Name
	}
	return c.Name()
}

// pipeline runs calls in one transaction. It repeats one that is refused for its isolation
// level: the connection's default was changed after it was read.
func (db *DB) pipeline(ctx context.Context, conn *pgx.Conn, calls []*engine.Call, cut error) error {
	err := db.send(ctx, conn, calls, cut)
	if unstorable(err) && engine.PlainCalls(calls) {
		err = db.send(ctx, conn, calls, cut)
	}
	if errors.Is(err, engine.ErrIsolation) && levelOf(conn) == readCommitted {
		setLevel(conn, otherLevel)
		err = db.send(ctx, conn, calls, cut)
	}
	return err
}

// send sends all calls before it reads the first answer.
func (db *DB) send(ctx context.Context, conn *pgx.Conn, calls []*engine.Call, cut error) error {
	batch := &pgx.Batch{}
	rows := make([]func(engine.Row) error, len(calls))
	finish := make([]func(), len(calls))
	explicit, begun := begin(conn, batch)
	settings := db.settings(calls)
	if settings != "" {
		batch.Queue(settings)
	}
	for i, c := range calls {
		c.Begin()
		var o engine.Operation
		o, rows[i], finish[i] = db.tune(c)
		s, err := db.statement(o)
		if err != nil {
			return err
		}
		batch.Queue(s.Text, arguments(s.Args(make([]any, 0, s.Parameters()), o, nil))...)
	}
	if explicit {
		batch.Queue(commitOwn)
		defer rollback(ctx, conn)
	}
	results := conn.SendBatch(ctx, batch)
	if failed, err := answers(results, calls, rows, begun, settings != ""); err != nil {
		_ = results.Close()
		db.leaveReadOnly(err)
		return db.failed(failed, err, cut)
	}
	if err := results.Close(); err != nil {
		return wrap(calls[0].Name(), err, cut)
	}
	for _, f := range finish {
		if f != nil {
			f()
		}
	}
	return nil
}

// answers reads the results of what was sent before the commit, and returns the name of the
// operation that failed. Closing the results reads the result of the commit.
func answers(results pgx.BatchResults, calls []*engine.Call, rows []func(engine.Row) error, begun func(pgx.BatchResults) error, settings bool) (failed string, err error) {
	if err := begun(results); err != nil {
		return beginTx, err
	}
	if settings {
		if _, err := results.Exec(); err != nil {
			return "settings", err
		}
	}
	for i, c := range calls {
		if err := answer(results, c, rows[i]); err != nil {
			return c.Name(), err
		}
	}
	return "", nil
}

func answer(results pgx.BatchResults, c *engine.Call, each func(engine.Row) error) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	r := &row{rows: rows}
	for rows.Next() {
		if each == nil {
			continue
		}
		if err := each(r); err != nil {
			return err
		}
	}
	rows.Close()
	if each == nil {
		c.N = rows.CommandTag().RowsAffected()
	}
	return rows.Err()
}

// settings returns the settings for the transaction of the calls only. SET LOCAL outside of a
// transaction block would log a warning on the server.
func (db *DB) settings(calls []*engine.Call) string {
	switch {
	case db.opts.RelaxedAck && relaxed(calls):
		return relaxedCommit
	case pinned(calls[0].Operation):
		return pinPlans
	}
	return ""
}

const relaxedCommit = `SELECT pg_catalog.set_config('synchronous_commit', 'off', true)`

// pinned reports the operations that read a bounded part of tables that may be large.
func pinned(o engine.Operation) bool {
	_, bounded := o.(interface{ ReadsBounded() })
	return bounded
}

// pinPlans pins the plans of such statements, as the routines' are pinned by settings of their
// own (layout rule 6): index scans that end early.
const pinPlans = `SELECT pg_catalog.set_config(s, 'off', true) FROM pg_catalog.unnest(ARRAY[
	'enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'enable_hashjoin', 'enable_mergejoin', 'jit']) s`

// relaxed reports whether the calls only claim and settle: work that a crash may repeat
// without loss.
func relaxed(calls []*engine.Call) bool {
	for _, c := range calls {
		switch c.Operation.(type) {
		case op.OutboxClaim, op.OutboxAck, op.OutboxExtend, op.OutboxRelease, op.ActivityCount:
		default:
			return false
		}
	}
	return true
}

// notReady reports whether a server starts or stops, does not listen yet, or has no connection left.
func notReady(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "57P01" || pg.Code == "57P02" || pg.Code == "57P03" || pg.Code == "53300"
	}
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) // a Unix socket is created when the server is ready
}

// unreachable classifies why no connection could be made.
func unreachable(ctx context.Context, err error) error {
	if noPrimary(err) {
		return engine.ErrNoPrimary
	}
	if notReady(err) {
		return engine.ErrNotReady
	}
	if class := classify(err); class != nil && !errors.Is(class, engine.ErrConnLost) {
		return class
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil // cancelled by the caller
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return engine.ErrTimeout
	}
	return engine.ErrUnreachable
}
