package main

import (
	"context"
	"database/sql"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/transactions/ent"
)

// withEnt moves money with ent. Its client is generated with the feature sql/execquery: with it ent's
// transaction is one that pawl takes.
func withEnt(p *pawl.Pawl, client *ent.Client, o *sql.TxOptions) mover {
	return func(ctx context.Context, t Transfer) error {
		return retry(ctx, func() error {
			tx, err := client.BeginTx(ctx, o)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			from, err := tx.Account.Get(ctx, t.From)
			if err != nil {
				return err
			}
			if from.Balance < t.Amount {
				return errFunds
			}
			t.reached(seen)
			for id, change := range map[int64]int64{t.From: -t.Amount, t.To: t.Amount} {
				if err := tx.Account.UpdateOneID(id).AddBalance(change).Exec(ctx); err != nil {
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
