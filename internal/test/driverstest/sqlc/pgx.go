package sqlc

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// PgxDBTX is a pool or a transaction, as sqlc has it for pgx/v5.
type PgxDBTX interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}

// PgxQueries are the program's statements.
type PgxQueries struct{ db PgxDBTX }

// NewPgx returns the statements for a pool.
func NewPgx(db PgxDBTX) *PgxQueries { return &PgxQueries{db: db} }

// WithTx returns them for a transaction.
func (q *PgxQueries) WithTx(tx pgx.Tx) *PgxQueries { return &PgxQueries{db: tx} }

// CreateOrder is one of the statements.
func (q *PgxQueries) CreateOrder(ctx context.Context) error {
	_, err := q.db.Exec(ctx, "INSERT INTO orders DEFAULT VALUES")
	return err
}
