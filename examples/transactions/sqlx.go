package main

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"

	"github.com/bravellian/pawl"
)

// withSqlx moves money with sqlx.
func withSqlx(p *pawl.Pawl, db *sqlx.DB, o *sql.TxOptions) mover {
	return func(ctx context.Context, t Transfer) error {
		return retry(ctx, func() error {
			tx, err := db.BeginTxx(ctx, o)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			var balance int64
			if err := tx.GetContext(ctx, &balance, "SELECT balance FROM accounts WHERE id = $1", t.From); err != nil {
				return err
			}
			if balance < t.Amount {
				return errFunds
			}
			t.reached(seen)
			for _, change := range []map[string]any{{"id": t.From, "by": -t.Amount}, {"id": t.To, "by": t.Amount}} {
				if _, err := tx.NamedExecContext(ctx, "UPDATE accounts SET balance = balance + :by WHERE id = :id", change); err != nil {
					return err
				}
			}
			t.reached(written)
			if _, err := Moved.EnqueueTx(ctx, p, tx, t); err != nil {
				return err
			}
			return tx.Commit()
		})
	}
}
