package postgres

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/engine"
)

// Tx makes a pgx transaction (or connection, or pool) one that pawl can write
// in. A *sql.Tx or *sql.Conn of pgx's database/sql driver needs no adapter.
func Tx(tx PgxTx) engine.Tx { return pgxTx{tx} }

// PgxTx is what pgx.Tx and *pgx.Conn have in common.
type PgxTx interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

type pgxTx struct{ tx PgxTx }

func (t pgxTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return result(tag.RowsAffected()), err
}

// result is rows affected as database/sql wants it.
type result int64

func (r result) RowsAffected() (int64, error) { return int64(r), nil }

func (r result) LastInsertId() (int64, error) {
	return 0, errors.New("postgres has no last insert id")
}

// rowQueryer is what *sql.Tx and *sql.Conn can do beyond engine.Tx.
type rowQueryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type scanner interface{ Scan(dest ...any) error }

type rowQuery func(ctx context.Context, query string) scanner

func (t pgxTx) row(ctx context.Context, query string) scanner { return t.tx.QueryRow(ctx, query) }

// txRow queries in a caller's transaction; it is nil for one that cannot.
func txRow(tx engine.Tx) rowQuery {
	switch t := tx.(type) {
	case pgxTx:
		return t.row
	case rowQueryer:
		return func(ctx context.Context, query string) scanner { return t.QueryRowContext(ctx, query) }
	}
	return nil
}

// DoTx runs one call in the caller's transaction.
func (db *DB) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	query, err := db.statement(call.Op)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	res, err := tx.ExecContext(ctx, query, arguments(call.Args)...)
	if err == nil {
		call.N, err = res.RowsAffected()
	}
	return wrap(call.Op, err, engine.ErrConnLost)
}

// arguments gives every argument a type that says itself what it is in SQL.
// Without prepared statements, as behind a connection pooler, nothing else does.
func arguments(args []any) []any {
	out := slices.Clone(args)
	for i, a := range out {
		switch a := a.(type) {
		case [16]byte:
			out[i] = pgtype.UUID{Bytes: a, Valid: true}
		case [][16]byte:
			ids := make([]pgtype.UUID, len(a))
			for k := range a {
				ids[k] = pgtype.UUID{Bytes: a[k], Valid: true}
			}
			out[i] = ids
		}
	}
	return out
}
