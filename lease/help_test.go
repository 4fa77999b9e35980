package lease_test

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/bravellian/pawl/lease"
)

// pooled is the test's own way to the database.
type pooled = *sql.DB

// guarded writes a lease's token to a table, under its guard.
func guarded(ctx context.Context, pool pooled, l *lease.Lease, table string) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := l.Guard(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO "+table+" VALUES ($1)", l.Token()); err != nil {
		return err
	}
	return tx.Commit()
}

// quietly is for examples, whose output is compared.
func quietly() *slog.Logger { return slog.New(slog.DiscardHandler) }
