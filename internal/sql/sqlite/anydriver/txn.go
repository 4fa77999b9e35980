package anydriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// runner runs single statements: on one of pawl's connections, or in a caller's transaction.
type runner interface {
	exec(query string, args []any) (sql.Result, error)
	query(query string, args []any, each func(engine.Row) error) error
}

// callerTx is a caller's transaction. It can execute (engine.Tx), and most can query, which only
// operations that return rows need.
type callerTx struct {
	ctx context.Context
	tx  engine.Tx
}

func (f callerTx) exec(query string, args []any) (sql.Result, error) {
	vals, err := values(args)
	if err != nil {
		return nil, err
	}
	return f.tx.ExecContext(f.ctx, query, vals...)
}

func (f callerTx) query(query string, args []any, each func(engine.Row) error) (err error) {
	q, err := engine.QuerierOf(f.tx)
	if err != nil {
		return err
	}
	vals, err := values(args)
	if err != nil {
		return err
	}
	rows, err := q.QueryContext(f.ctx, query, vals...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }() // also after a panic of each
	return drainRows(rows, each)
}

// values converts arguments to SQLite's types.
func values(args []any) ([]any, error) {
	vals := make([]any, len(args))
	for i, a := range args {
		v, err := value(a)
		if err != nil {
			return nil, err
		}
		vals[i] = v
	}
	return vals, nil
}

// drainRows reads rows of database/sql.
func drainRows(rows *sql.Rows, each func(engine.Row) error) error {
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	r := make(row, len(names))
	into := make([]any, len(names))
	for i := range r {
		into[i] = (*any)(&r[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(r); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// ready returns the transaction to run statements in. It refuses what is none, and a single
// connection unless a transaction is open on it. A second BEGIN shows that with every driver:
// it fails, and changes nothing. One that succeeds takes no lock.
func ready(ctx context.Context, tx engine.Tx) (engine.Tx, error) {
	if err := engine.CheckTx(tx); err != nil {
		return nil, err
	}
	tx = engine.Plain(tx)
	conn, ok := tx.(engine.Conn)
	if !ok {
		return tx, nil
	}
	_, err := conn.ExecContext(ctx, "BEGIN")
	if err == nil {
		_, err = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return nil, errors.Join(engine.NotInTransaction(tx), err)
	}
	if strings.Contains(err.Error(), "within a transaction") {
		return tx, nil
	}
	return nil, err
}

// txn is a transaction in which operations run.
type txn struct {
	db    *DB
	run   runner
	now   int64           // the database's clock, read once (layout rule 3)
	limit context.Context // no statement begins after its end; nil where run checks itself
	buf   []any
	woke  bool // something scheduled for later became due
}

// begin returns a transaction for calls, which it prepares before it reads the clock.
func (db *DB) begin(run runner, calls ...*engine.Call) *txn {
	for _, c := range calls {
		c.Begin()
	}
	return &txn{db: db, run: run, now: db.now()}
}

// change runs a statement and returns how many rows it changed.
func (t *txn) change(op engine.Operation) (int64, error) {
	res, err := t.exec(op)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// exec runs a statement.
func (t *txn) exec(op engine.Operation) (sql.Result, error) {
	query, err := t.bind(op)
	if err != nil {
		return nil, err
	}
	return t.run.exec(query, t.buf)
}

// do runs statements one after the other.
func (t *txn) do(statements ...engine.Operation) error {
	for _, s := range statements {
		if _, err := t.exec(s); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a statement and calls each for its rows. each must not run statements: they share
// a buffer for arguments.
func (t *txn) ask(op engine.Operation, each func(engine.Row) error) error {
	query, err := t.bind(op)
	if err != nil {
		return err
	}
	return t.run.query(query, t.buf, each)
}

// each is ask with typed rows.
func each[T any](t *txn, op engine.Answering[T], f func(row *T) error) error {
	return t.ask(op, engine.Scan(func(row *T, unread error) error {
		if unread != nil {
			return unread
		}
		return f(row)
	}))
}

// rows returns all rows of a statement.
func rows[T any](t *txn, op engine.Answering[T]) (all []T, err error) {
	err = each(t, op, func(row *T) error { all = append(all, *row); return nil })
	return all, err
}

// one returns the first row of a statement; found is false if there is none.
func one[T any](t *txn, op engine.Answering[T]) (first T, found bool, err error) {
	err = each(t, op, func(row *T) error { first, found = *row, true; return errStop })
	return first, found, err
}

// bind looks up a statement and sets its arguments; it fails if there is no time left (D-6).
func (t *txn) bind(op engine.Operation) (string, error) {
	s := t.db.folder.Statement(op)
	if s == nil {
		return "", fmt.Errorf("no statement %q", engine.NameOf(op))
	}
	t.buf = s.Args(t.buf[:0], op, t.now)
	if t.limit != nil {
		return s.Text, t.limit.Err()
	}
	return s.Text, nil
}

// run runs one call. If a position was taken, the cached block of ids is of another history, and
// is dropped.
func (db *DB) run(t *txn, c *engine.Call) (err error) {
	switch f := db.answers[reflect.TypeOf(c.Operation)]; {
	case f != nil:
		err = f(t, c)
	case c.Each != nil:
		err = t.ask(c.Operation, c.Each)
	default:
		c.N, err = t.change(c.Operation)
	}
	if err == nil {
		return nil
	}
	if err = wrap(c.Name(), err); errors.Is(err, engine.ErrPosition) {
		db.ids.Drop()
	}
	return err
}

// opFunc implements an operation in Go.
type opFunc func(t *txn, c *engine.Call) error

// answers are the operations that take more than one statement on SQLite, each with the Go
// function that implements it.
type answers map[reflect.Type]opFunc

// has reports whether an operation is implemented in Go.
func (a answers) has(o engine.Operation) bool { return a[reflect.TypeOf(o)] != nil }

// answer is one of the answers.
type answer struct {
	operation reflect.Type
	run       opFunc
}

// counting answers an operation that returns a number, or how many rows it changed.
func counting[O engine.Operation](f func(t *txn, o O) (int64, error)) answer {
	return answer{reflect.TypeFor[O](), func(t *txn, c *engine.Call) (err error) {
		c.N, err = f(t, c.Operation.(O))
		return err
	}}
}

// listing answers an operation that returns rows.
func listing[O engine.Operation](f func(t *txn, o O, each func(engine.Row) error) error) answer {
	return answer{reflect.TypeFor[O](), func(t *txn, c *engine.Call) error { return f(t, c.Operation.(O), c.Each) }}
}
