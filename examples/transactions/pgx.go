package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
)

// withPgx moves money with pgx alone. postgres.Pool(db) is pawl's pool: one is enough for both.
func withPgx(p *pawl.Pawl, pool *pgxpool.Pool) mover {
	return func(ctx context.Context, t Transfer) error {
		return retry(ctx, func() error {
			return pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
				var balance int64
				if err := tx.QueryRow(ctx, "SELECT balance FROM accounts WHERE id = $1", t.From).Scan(&balance); err != nil {
					return err
				}
				if balance < t.Amount {
					return errFunds
				}
				t.reached(seen)
				for id, change := range map[int64]int64{t.From: -t.Amount, t.To: t.Amount} {
					if _, err := tx.Exec(ctx, "UPDATE accounts SET balance = balance + $1 WHERE id = $2", change, id); err != nil {
						return err
					}
				}
				t.reached(written)
				_, err := Moved.EnqueueTx(ctx, p, tx, t)
				return err
			})
		})
	}
}
