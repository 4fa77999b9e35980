package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/internal/engine"
)

// Tx converts a pgx.Tx into one that pawl can write in, or a *pgx.Conn or *pgxpool.Conn on
// which a transaction is open. Using a pool, or a connection outside a transaction, fails with
// engine.ErrNotInTransaction. A *sql.Tx of any driver needs no adapter.
func Tx(tx PgxTx) engine.Tx { return pgxTx{tx} }

// AdoptTx returns a Tx for a type of pgx that runs statements.
func (db *DB) AdoptTx(given any) (engine.Tx, error) {
	tx, ok := given.(PgxTx)
	if !ok {
		return nil, engine.NotInTransaction(given)
	}
	return Tx(tx), nil
}

// PgxTx is what pgx.Tx, *pgx.Conn and *pgxpool.Conn have in common.
type PgxTx interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Pgx returns the pgx transaction behind a transaction that pawl began on
// PostgreSQL, or that Tx made of one; ok is false for others.
func Pgx(tx engine.Tx) (pgxTransaction pgx.Tx, ok bool) {
	if t, ours := tx.(pgxTx); ours {
		pgxTransaction, ok = t.tx.(pgx.Tx)
	}
	return pgxTransaction, ok
}

type pgxTx struct{ tx PgxTx }

// CheckTx returns an error for what is no open transaction. A connection knows its state from
// the server's last answer.
func (t pgxTx) CheckTx() error {
	switch tx := t.tx.(type) {
	case nil:
		return engine.Invalid("transaction", "nil")
	case pgx.Tx:
		return nil
	case interface{ PgConn() *pgconn.PgConn }: // *pgx.Conn
		return openOn(tx, tx.PgConn())
	case interface{ Conn() *pgx.Conn }: // *pgxpool.Conn
		return openOn(tx, tx.Conn().PgConn())
	case interface {
		Begin(ctx context.Context) (pgx.Tx, error)
	}: // a pool, or a type that embeds one
		return engine.NotInTransaction(t.tx)
	}
	return nil
}

// openOn returns an error unless a transaction is open on given's connection.
func openOn(given any, conn *pgconn.PgConn) error {
	const idle = 'I'
	if conn.TxStatus() == idle {
		return engine.NotInTransaction(given)
	}
	return nil
}

// ready returns the transaction to run statements in. It refuses what is none, and a single
// connection of database/sql unless a transaction is open on it, which only pgx can tell
// without a round trip.
func ready(tx engine.Tx) (engine.Tx, error) {
	if err := engine.CheckTx(tx); err != nil {
		return nil, err
	}
	tx = engine.Plain(tx)
	conn, ok := tx.(engine.Conn)
	if !ok {
		return tx, nil
	}
	refusal := engine.NotInTransaction(tx)
	err := conn.Raw(func(driverConn any) error {
		if wrapper, ok := driverConn.(interface{ Raw() driver.Conn }); ok { // as in drivers for tracing
			driverConn = wrapper.Raw()
		}
		if own, ok := driverConn.(interface{ Conn() *pgx.Conn }); ok {
			refusal = openOn(tx, own.Conn().PgConn())
		}
		return nil // after an error database/sql would close the connection
	})
	if err != nil {
		return nil, err
	}
	return tx, refusal
}

func (t pgxTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return result(tag.RowsAffected()), err
}

// result is the number of rows affected, as an sql.Result.
type result int64

func (r result) RowsAffected() (int64, error) { return int64(r), nil }

func (r result) LastInsertId() (int64, error) {
	return 0, errors.New("postgres has no last insert id")
}

// rowQueryer has methods of *sql.Tx and *sql.Conn that engine.Tx does not.
type rowQueryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type scanner interface{ Scan(dest ...any) error }

type rowQuery func(ctx context.Context, query string, args ...any) scanner

func (t pgxTx) row(ctx context.Context, query string, args ...any) scanner {
	return t.tx.QueryRow(ctx, query, args...)
}

// ownRow returns a function that queries over a connection of pawl's own, behind any pooler.
func ownRow(q queryer) rowQuery {
	return func(ctx context.Context, query string, args ...any) scanner {
		return q.QueryRow(ctx, query, append([]any{pgx.QueryExecModeExec}, args...)...)
	}
}

// txRow returns a function that queries in a caller's transaction; nil if that cannot.
func txRow(tx engine.Tx) rowQuery {
	switch t := tx.(type) {
	case pgxTx:
		return t.row
	case rowQueryer:
		return func(ctx context.Context, query string, args ...any) scanner {
			return t.QueryRowContext(ctx, query, portable(args)...)
		}
	}
	return nil
}

// DoTx runs one call in the caller's transaction.
func (db *DB) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	o := single(call.Operation)
	s, err := db.statement(o)
	if err != nil {
		return err
	}
	if tx, err = ready(tx); err != nil {
		return wrap(call.Name(), err, engine.ErrConnLost)
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	if err := db.checkTxEncoding(ctx, tx); err != nil {
		return wrap(call.Name(), err, engine.ErrConnLost)
	}
	if err := db.stillLocal(ctx, call.Name(), txRow(tx)); err != nil {
		return err
	}
	if db.elsewhere() { // an error would end the transaction
		o = engine.Plainly(o)
	}
	args := arguments(s.Args(make([]any, 0, s.Parameters()), o, nil))
	if _, own := tx.(pgxTx); !own {
		args = portable(args)
	}
	if len(s.Columns()) > 0 {
		err = queryTx(ctx, tx, s.Text, args, call)
	} else {
		var res sql.Result
		if res, err = tx.ExecContext(ctx, s.Text, args...); err == nil {
			call.N, err = res.RowsAffected()
		}
	}
	if err == nil {
		return nil
	}
	db.checkWritesLater(err)
	return db.failed(call.Name(), err, engine.ErrConnLost)
}

// queryTx runs a call that returns rows in the caller's transaction.
func queryTx(ctx context.Context, tx engine.Tx, text string, args []any, call *engine.Call) error {
	call.Begin()
	if own, ok := tx.(pgxTx); ok {
		return own.query(ctx, text, args, call.Each)
	}
	q, err := engine.QuerierOf(tx)
	if err != nil {
		return err
	}
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := call.Each(stdRow{rows}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// query runs a statement that returns rows.
func (t pgxTx) query(ctx context.Context, text string, args []any, each func(engine.Row) error) error {
	q, ok := t.tx.(interface {
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	})
	if !ok {
		return engine.NoQuerier(t)
	}
	rows, err := q.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	r := &row{rows: rows}
	for rows.Next() {
		if err := each(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// stdRow is a row that database/sql read, with any driver.
type stdRow struct{ rows *sql.Rows }

// Scan copies the columns into dest.
func (r stdRow) Scan(dest ...any) error {
	into := slices.Clone(dest)
	for i, d := range into {
		if id, ok := d.(*[16]byte); ok {
			into[i] = (*uuid.UUID)(id)
		}
	}
	return r.rows.Scan(into...)
}

const (
	beginTx  = "begin"
	commitTx = "commit"
	// rollbackLimit bounds a rollback, which must not depend on a context that has ended: the
	// connection would stay in its transaction.
	rollbackLimit = 5 * time.Second
)

// InTx runs fn in a transaction of its own.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	wait, stop := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer stop()
	conn, err := db.acquire(wait, beginTx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := db.stillLocal(wait, beginTx, ownRow(conn)); err != nil {
		return err
	}
	tx, err := conn.BeginTx(wait, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return wrap(beginTx, err, engine.ErrConnLost)
	}
	open := true
	defer func() { // also after a panic
		if open {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
			defer cancel()
			_ = tx.Rollback(ctx)
		}
	}()
	inside, end := db.InsideTx(ctx)
	defer end()
	if err := fn(inside, Tx(tx)); err != nil {
		db.leaveReadOnly(err)
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	open = false
	commit, cancel := engine.Detach(ctx, db.opts.StatementTimeout)
	defer cancel()
	return wrap(commitTx, tx.Commit(commit), engine.ErrCommitUnknown)
}

// arguments replaces every argument, in place, by one with an explicit SQL type. Without
// prepared statements, as behind a connection pooler, the server cannot infer it.
func arguments(args []any) []any {
	for i, a := range args {
		switch a := a.(type) {
		case [16]byte:
			args[i] = pgtype.UUID{Bytes: a, Valid: true}
		case *[16]byte:
			var id pgtype.UUID
			if a != nil {
				id = pgtype.UUID{Bytes: *a, Valid: true}
			}
			args[i] = id
		case [][16]byte:
			ids := make([]pgtype.UUID, len(a))
			for k := range a {
				ids[k] = pgtype.UUID{Bytes: a[k], Valid: true}
			}
			args[i] = ids
		}
	}
	return args
}
