package main

import (
	"context"
	"database/sql"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/transactions/sqlc"
)

// withSqlc moves money with queries that sqlc generated for database/sql.
func withSqlc(p *pawl.Pawl, db *sql.DB, o *sql.TxOptions) mover {
	queries := sqlc.New(db)
	return func(ctx context.Context, t Transfer) error {
		return retry(ctx, func() error {
			tx, err := db.BeginTx(ctx, o)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			q := queries.WithTx(tx)
			balance, err := q.Balance(ctx, t.From)
			if err != nil {
				return err
			}
			if balance < t.Amount {
				return errFunds
			}
			t.reached(seen)
			for id, change := range map[int64]int64{t.From: -t.Amount, t.To: t.Amount} {
				if err := q.ChangeBalance(ctx, sqlc.ChangeBalanceParams{Balance: change, ID: id}); err != nil {
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
