package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	reserveIDs = "reserve ids"
	inOrder    = `SELECT pg_catalog.string_agg(d.id::pg_catalog.text, ',' ORDER BY d.id)
		FROM (SELECT pg_catalog.nextval('pawl.outbox_single'::pg_catalog.regclass) AS id FROM pg_catalog.generate_series(1, %d)) d`
	blockNext = `SELECT pg_catalog.nextval('pawl.outbox_block'::pg_catalog.regclass)`
	// blockLimit is how long a caller's transaction waits for a block that is fetched over
	// another connection.
	blockLimit = time.Second
)

// ReserveIDs takes ids from this process's blocks. The next one is fetched ahead, in the
// background, in a transaction of its own: what is drawn from a sequence in an open
// transaction is not on disk before a commit, and a crash or a failover allocates it again.
// If a caller's transaction needs ids and the blocks are used up, they are fetched over
// another connection if the pool has a free one. If not, they are drawn within that
// transaction and for it alone: then they are lost together with what they were used for.
func (db *DB) ReserveIDs(ctx context.Context, tx engine.Tx, n int) (int64, error) {
	defer db.fetchAhead()
	if lo, ok := db.ids.TryTake(n); ok {
		return lo, nil
	}
	row := txRow(tx)
	if row == nil {
		return db.ids.Take(ctx, n, db.block)
	}
	if db.hasFreeConnection() {
		limited, cancel := context.WithTimeout(ctx, blockLimit)
		defer cancel()
		if lo, err := db.ids.Take(limited, n, db.block); err == nil {
			return lo, nil
		}
	}
	return db.blockInTx(ctx, row, n)
}

// ReserveInOrder draws ids one by one from the sequence that SQL draws from. They are on disk with
// the commit of tx, or with that of this transaction, which comes before it.
func (db *DB) ReserveInOrder(ctx context.Context, tx engine.Tx, n int) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	row := txRow(tx)
	if row == nil {
		conn, err := db.acquire(ctx, reserveIDs)
		if err != nil {
			return nil, err
		}
		defer conn.Release()
		row = ownRow(conn)
	}
	var text string
	if err := row(ctx, db.folder.Names.Render(fmt.Sprintf(inOrder, n))).Scan(&text); err != nil {
		return nil, db.failed(reserveIDs, err, engine.ErrConnLost)
	}
	ids := make([]int64, 0, n)
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, wrap(reserveIDs, err, nil)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// hasFreeConnection reports whether the pool has a connection for a caller that must not wait
// for one: the others may be in transactions that wait for the same.
func (db *DB) hasFreeConnection() bool {
	s := db.pool.Stat()
	return s.AcquiredConns() < s.MaxConns()
}

// fetchAhead fetches the next block in the background if half of this one is used.
func (db *DB) fetchAhead() {
	if !db.ids.Low() {
		db.history.CheckLater(&db.ahead, db)
		return
	}
	db.ahead.Run(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
		defer cancel()
		_ = db.ids.Refill(ctx, db.block) // the next caller tries again and returns the error
	})
}

// block fetches a block in a transaction of its own, which is on disk when it returns. The
// database returns its generation with it.
func (db *DB) block(ctx context.Context) (lo int64, err error) {
	err = engine.Retry(ctx, func() error {
		lo, err = db.blockOnce(ctx)
		return err
	})
	return lo, err
}

func (db *DB) blockOnce(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	conn, err := db.acquire(ctx, reserveIDs)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	var block int64
	seen, before := op.GenerationState{}, db.history.State()
	query := db.folder.Names.Render(`SELECT o_block, o_mark, o_number, o_written FROM pawl.outbox_block()`)
	if err := conn.QueryRow(ctx, query, pgx.QueryExecModeExec).Scan(&block, &seen.Mark, &seen.Number, &seen.Written); err != nil {
		return 0, wrap(reserveIDs, err, engine.ErrConnLost)
	}
	db.history.Observe(&seen, before)
	return block * engine.BlockSize, nil
}

// blockInTx draws ids within a caller's transaction, for n of which it is the only user.
func (db *DB) blockInTx(ctx context.Context, row rowQuery, n int) (int64, error) {
	if n < 1 || n > engine.BlockSize {
		return db.ids.Take(ctx, n, db.block) // returns the error
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	var block int64
	if err := row(ctx, db.folder.Names.Render(blockNext)).Scan(&block); err != nil {
		return 0, wrap(reserveIDs, err, engine.ErrConnLost)
	}
	return block * engine.BlockSize, nil
}
