package sqlserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	reserveIDs = "reserve ids"
	blockOwn   = `EXEC pawl.outbox_next_block`
	// inOrder draws one by one: a sequence has its increment, and sp_sequence_get_range is not
	// everybody's.
	inOrder = `DECLARE @all nvarchar(max) = N'', @n int = 0, @id bigint;
WHILE @n < %d
BEGIN
  SET @id = NEXT VALUE FOR pawl.outbox_single;
  SET @all = CONCAT(@all, @id, N',');
  SET @n = @n + 1;
END;
SELECT @all AS ids`
	// besideLimit is how long a caller's transaction waits for a block that is
	// fetched over another connection.
	besideLimit = time.Second
)

// ReserveIDs takes ids from this process's blocks. The next one is fetched ahead,
// in the background, in a transaction of its own: what is drawn from a sequence in
// an open transaction may not be on disk before somebody commits. Where a caller's
// transaction needs ids and none are cached, they are fetched over another connection if
// the pool has one. If not, they are drawn within that transaction and for it alone: then
// they are lost together with what they were used for.
func (db *DB) ReserveIDs(ctx context.Context, tx engine.Tx, n int) (int64, error) {
	defer db.fetchAhead()
	if lo, ok := db.ids.TryTake(n); ok {
		return lo, nil
	}
	within, can := tx.(queryer)
	if !can {
		return db.ids.Take(ctx, n, db.block)
	}
	if db.roomBeside() {
		limited, cancel := context.WithTimeout(ctx, besideLimit)
		defer cancel()
		if lo, err := db.ids.Take(limited, n, db.block); err == nil {
			return lo, nil
		}
	}
	return db.blockWithin(ctx, within, n)
}

// ReserveInOrder draws ids one by one from the sequence that SQL draws from. They are on disk with
// the commit of tx, or with that of this transaction, which comes before it.
func (db *DB) ReserveInOrder(ctx context.Context, tx engine.Tx, n int) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	if within, can := tx.(queryer); can {
		return db.drawInOrder(ctx, within, n)
	}
	conn, err := db.acquire(ctx, reserveIDs)
	if err != nil {
		return nil, err
	}
	defer db.release(conn)
	ids, err := db.drawInOrder(ctx, conn, n)
	return ids, ended(conn, err)
}

func (db *DB) drawInOrder(ctx context.Context, q queryer, n int) ([]int64, error) {
	ids := make([]int64, 0, n)
	var text string
	if err := readRow(ctx, q, db.folder.Names.Render(fmt.Sprintf(inOrder, n)), &text); err != nil {
		return nil, wrap(reserveIDs, err, engine.ErrConnLost)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, wrap(reserveIDs, err, nil)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// roomBeside reports whether the pool has a connection without waiting for one: its others
// may be in transactions that wait for the same.
func (db *DB) roomBeside() bool {
	s := db.sql.Stats()
	return s.MaxOpenConnections == 0 || s.InUse < s.MaxOpenConnections
}

// fetchAhead fetches the next block in the background if this one is half used up.
func (db *DB) fetchAhead() {
	if !db.ids.Low() {
		db.history.CheckLater(&db.ahead, db)
		return
	}
	db.ahead.Run(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
		defer cancel()
		_ = db.ids.Refill(ctx, db.block) // the caller that needs it tries again, and returns the error
	})
}

// block fetches a block in a transaction of its own, which is on disk when it
// returns. The generation is read with it.
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
	defer db.release(conn)
	before := db.history.State()
	block, seen, err := db.drawBlock(ctx, conn)
	if err != nil {
		return 0, ended(conn, err)
	}
	db.history.Observe(&seen, before)
	return block * engine.BlockSize, nil
}

// drawBlock draws a block, and reads the generation.
func (db *DB) drawBlock(ctx context.Context, q queryer) (block int64, seen op.GenerationState, err error) {
	err = readRow(ctx, q, db.folder.Names.Render(blockOwn), &block, &seen.Mark, &seen.Number, &seen.Written)
	return block, seen, wrap(reserveIDs, err, engine.ErrConnLost)
}

// blockWithin draws ids within a caller's transaction, for n of which it is the only user.
func (db *DB) blockWithin(ctx context.Context, tx queryer, n int) (int64, error) {
	if n < 1 || n > engine.BlockSize {
		return 0, fmt.Errorf("reserve ids: %d at once, want 1 to %d", n, engine.BlockSize)
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	var block int64
	if err := readRow(ctx, tx, db.folder.Names.Render(`SELECT NEXT VALUE FOR pawl.outbox_block`), &block); err != nil {
		return 0, wrap(reserveIDs, err, engine.ErrConnLost)
	}
	return block * engine.BlockSize, nil
}
