// Package sqlc has the shape of what sqlc generates for database/sql.
package sqlc

import (
	"context"
	"database/sql"
)

// DBTX is a pool or a transaction.
type DBTX interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// Queries are the program's statements.
type Queries struct{ db DBTX }

// New returns the statements for a pool.
func New(db DBTX) *Queries { return &Queries{db: db} }

// WithTx returns them for a transaction.
func (q *Queries) WithTx(tx *sql.Tx) *Queries { return &Queries{db: tx} }

// CreateOrder is one of the statements.
func (q *Queries) CreateOrder(ctx context.Context) error {
	_, err := q.db.ExecContext(ctx, "INSERT INTO orders DEFAULT VALUES")
	return err
}
