package sqlserver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Do sends the calls as one batch, which is one transaction: one round trip.
func (db *DB) Do(ctx context.Context, calls ...*engine.Call) error {
	err := db.again(ctx, func() error {
		wait, stop := context.WithTimeout(ctx, db.opts.StatementTimeout)
		defer stop()
		conn, err := db.acquire(wait, db.name(calls[0]))
		if err != nil {
			return err // nothing was sent
		}
		defer db.release(conn)
		if err := engine.CheckGeneration(db.Generation(), calls); err != nil {
			return err
		}
		deadline, _ := wait.Deadline()
		ctx, cancel := engine.Detach(ctx, time.Until(deadline))
		defer cancel()
		return ended(conn, db.send(ctx, conn, calls, engine.ErrCommitUnknown))
	})
	return refused(err, func() (op.Move, error) {
		m, _, err := engine.Get(ctx, db, op.MoveRead{})
		return m, err
	})
}

// Read runs one call that changes nothing.
func (db *DB) Read(ctx context.Context, call *engine.Call) error {
	return db.again(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
		defer cancel()
		conn, err := db.acquire(ctx, db.name(call))
		if err != nil {
			return err
		}
		defer db.release(conn)
		return ended(conn, db.send(ctx, conn, []*engine.Call{call}, engine.ErrConnLost))
	})
}

// again retries after a transient error, and once if the database's setting is not the one
// that was last read.
func (db *DB) again(ctx context.Context, try func() error) error {
	return engine.Retry(ctx, func() error {
		err := try()
		if driverr.HasNumber(err, errHint) {
			db.versioned.Store(!db.versioned.Load())
			err = try()
		}
		return err
	})
}

// release returns a connection to the pool.
func (db *DB) release(conn *sql.Conn) {
	db.idle.put(driverOf(conn))
	_ = conn.Close()
}

// fatalClass is the lowest class of errors after which the server closes the connection.
const fatalClass = 20

// ended makes the pool drop a connection that the server closed after an error: the driver
// would use it again.
func ended(conn *sql.Conn, err error) error {
	var own interface{ SQLErrorClass() uint8 }
	if errors.As(err, &own) && own.SQLErrorClass() >= fatalClass {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// statement returns the statement of an operation.
func (db *DB) statement(o engine.Operation) (*engine.Statement, error) {
	if s := db.folder.Statement(o); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("sqlserver: unknown operation %q", engine.NameOf(o))
}

// name returns the name of a call's operation.
func (db *DB) name(c *engine.Call) string {
	if s := db.folder.Statement(c.Operation); s != nil {
		return s.Name
	}
	return c.Name()
}

// language is that of messages and dates, whatever the login's is. Nothing goes by the text of a
// message, but people read it.
const language = "SET LANGUAGE us_english; "

// The settings end with the batch if the driver sends it by sp_executesql, as it does when
// there are arguments. Otherwise the connection's reset ends them.
const (
	begin = language + `SET NOCOUNT ON; SET XACT_ABORT ON; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN TRANSACTION;
`
	commit = `COMMIT TRANSACTION;
SELECT 1 AS committed`
)

// answering is a call and how its result is read.
type answering struct {
	call    *engine.Call
	changes bool
	each    func(engine.Row) error
	finish  func()
}

// send runs calls in one transaction. Each returns one result set; one more says that they
// are committed.
func (db *DB) send(ctx context.Context, conn *sql.Conn, calls []*engine.Call, cut error) error {
	var b strings.Builder
	b.WriteString(begin)
	var args []any
	expected := make([]answering, len(calls))
	for i, c := range calls {
		c.Begin()
		o, each, finish := db.tune(c)
		s, err := db.statement(o)
		if err != nil {
			return err
		}
		t := db.textOf(s)
		t.call(&b, t.own, len(args))
		given, err := db.arguments(s.Args(make([]any, 0, t.params), o, nil))
		if err != nil {
			return &engine.Error{Op: c.Name(), Err: err}
		}
		args = append(args, given...)
		expected[i] = answering{c, t.changes, each, finish}
	}
	b.WriteString(commit)
	rows, err := conn.QueryContext(ctx, b.String(), args...)
	if err != nil {
		return db.failed(calls[0].Name(), err, cut)
	}
	defer rows.Close()
	if failed, err := answers(rows, expected); err != nil {
		return db.failed(failed, err, cut)
	}
	for _, a := range expected {
		if a.finish != nil {
			a.finish()
		}
	}
	return nil
}

// call writes the call of a statement whose first argument follows `behind` others.
func (t *text) call(b *strings.Builder, statement string, behind int) {
	b.WriteString("EXEC sys.sp_executesql " + statement)
	if t.declare != "" {
		b.WriteString(", " + t.declare)
	}
	for i := range t.params {
		b.WriteString(", @p" + strconv.Itoa(behind+i+1))
	}
	b.WriteString(";\n")
}

// errNoAnswer is returned when the server sent fewer result sets than there are calls.
var errNoAnswer = errors.New("sqlserver: the server's answer ended early")

// answers reads the results of the calls, and returns the name of the one that failed.
func answers(rows *sql.Rows, expected []answering) (failed string, err error) {
	for i, a := range expected {
		if i > 0 && !rows.NextResultSet() {
			return a.call.Name(), orElse(rows.Err(), errNoAnswer)
		}
		if err := answer(rows, a); err != nil {
			return a.call.Name(), err
		}
	}
	if !rows.NextResultSet() || !rows.Next() {
		return expected[len(expected)-1].call.Name(), orElse(rows.Err(), errNoAnswer)
	}
	for more := true; more; more = rows.NextResultSet() { // or the driver cancels what it has not read
		for rows.Next() {
		}
	}
	return "", nil
}

func orElse(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

// answer reads one result set, all of it, also after an error of the caller's: the calls
// after it are running.
func answer(rows *sql.Rows, a answering) error {
	c := a.call
	r, err := newRow(rows)
	if err != nil {
		return err
	}
	n := int64(0)
	for rows.Next() {
		if err := rows.Scan(r.into...); err != nil {
			return err
		}
		n++
		switch {
		case a.changes:
			if err := r.Scan(&c.N); err != nil {
				return err
			}
		case a.each != nil:
			if err := a.each(r); err != nil {
				return err
			}
		}
	}
	if !a.changes && a.each == nil {
		c.N = n
	}
	return rows.Err()
}

// unreachable returns the class of an error to connect.
func unreachable(ctx context.Context, err error) error {
	if notReady(err) {
		return engine.ErrNotReady
	}
	if class := classify(err); class != nil && !errors.Is(class, engine.ErrConnLost) {
		return class
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil // the caller cancelled
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return engine.ErrTimeout
	}
	return engine.ErrUnreachable
}
