package main

import (
	"context"
	"database/sql"

	"github.com/bravellian/pawl"
)

// withDatabaseSQL moves money with database/sql, whatever the driver.
func withDatabaseSQL(p *pawl.Pawl, db *sql.DB, o *sql.TxOptions) mover {
	return func(ctx context.Context, t Transfer) error {
		return retry(ctx, func() error {
			tx, err := db.BeginTx(ctx, o)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }() // after an error or a panic; after Commit it does nothing
			var balance int64
			if err := tx.QueryRowContext(ctx, "SELECT balance FROM accounts WHERE id = $1", t.From).Scan(&balance); err != nil {
				return err
			}
			if balance < t.Amount {
				return errFunds
			}
			t.reached(seen)
			if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - $1 WHERE id = $2", t.Amount, t.From); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance + $1 WHERE id = $2", t.Amount, t.To); err != nil {
				return err
			}
			t.reached(written)
			if _, err := Moved.EnqueueTx(ctx, p, tx, t); err != nil {
				return err
			}
			return tx.Commit()
		})
	}
}
