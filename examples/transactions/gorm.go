package main

import (
	"context"
	"database/sql"

	"gorm.io/gorm"

	"github.com/bravellian/pawl"
)

// Account is a row of the table accounts, for GORM and bun.
type Account struct {
	ID      int64 `gorm:"primaryKey" bun:",pk"`
	Balance int64
}

// withGORM moves money with GORM, which rolls back after an error or a panic of the function. What
// EnqueueTx is given is the function's tx: db is the pool, and is refused.
func withGORM(p *pawl.Pawl, db *gorm.DB, o *sql.TxOptions) mover {
	return func(ctx context.Context, t Transfer) error {
		return retry(ctx, func() error {
			return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				var from Account
				if err := tx.First(&from, t.From).Error; err != nil {
					return err
				}
				if from.Balance < t.Amount {
					return errFunds
				}
				t.reached(seen)
				for id, change := range map[int64]int64{t.From: -t.Amount, t.To: t.Amount} {
					if err := tx.Model(&Account{ID: id}).Update("balance", gorm.Expr("balance + ?", change)).Error; err != nil {
						return err
					}
				}
				t.reached(written)
				_, err := Moved.EnqueueTx(ctx, p, tx, t)
				return err
			}, options(o)...)
		})
	}
}

// options are none where the database has its own.
func options(o *sql.TxOptions) []*sql.TxOptions {
	if o == nil {
		return nil
	}
	return []*sql.TxOptions{o}
}
