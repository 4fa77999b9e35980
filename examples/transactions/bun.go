package main

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"github.com/bravellian/pawl"
)

// withBun moves money with bun, which rolls back after an error or a panic of the function.
func withBun(p *pawl.Pawl, db *bun.DB, o *sql.TxOptions) mover {
	return func(ctx context.Context, t Transfer) error {
		return retry(ctx, func() error {
			return db.RunInTx(ctx, o, func(ctx context.Context, tx bun.Tx) error {
				from := Account{ID: t.From}
				if err := tx.NewSelect().Model(&from).WherePK().Scan(ctx); err != nil {
					return err
				}
				if from.Balance < t.Amount {
					return errFunds
				}
				t.reached(seen)
				for id, change := range map[int64]int64{t.From: -t.Amount, t.To: t.Amount} {
					if _, err := tx.NewUpdate().Model(&Account{ID: id}).Set("balance = balance + ?", change).WherePK().Exec(ctx); err != nil {
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
