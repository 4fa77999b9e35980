package sqlserver

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
)

// InsideTx returns the context of a function that runs in a transaction; see engine.TxContexts.
func (db *DB) InsideTx(ctx context.Context) (inside context.Context, end func()) {
	return engine.MarkTx(ctx, db)
}

// CheckOutside refuses what would need the pool's only connection, which the transaction has; see
// engine.TxContexts. Elsewhere a call commits apart from it.
func (db *DB) CheckOutside(ctx context.Context, call, right string) error {
	if engine.Inside(ctx, func() any { return db }) != nil && db.PoolStats().Max == 1 {
		return engine.InTransaction(call, right)
	}
	return nil
}
