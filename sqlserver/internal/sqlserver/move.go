package sqlserver

import (
	"context"
	"database/sql"

	"github.com/bravellian/pawl/internal/engine"
)

var _ engine.Movable = (*DB)(nil)

// moving is the name of what a move does in errors.
const moving = "move"

// TableRows reads rows of a table; see engine.Movable.
func (db *DB) TableRows(ctx context.Context, t *engine.Table, above []any, n int) (all [][]any, err error) {
	s := db.stored(t)
	args, err := db.arguments(append([]any{n}, above...))
	if err != nil {
		return nil, wrap(moving, err, nil)
	}
	err = engine.Retry(ctx, func() error {
		all = nil
		return db.onConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
			rows, err := conn.QueryContext(ctx, s.page(above != nil), args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			all, err = s.collect(rows)
			return err
		})
	})
	return all, err
}

// onConn runs fn over a connection, outside of a transaction.
func (db *DB) onConn(ctx context.Context, fn func(ctx context.Context, conn *sql.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	conn, err := db.acquire(ctx, moving)
	if err != nil {
		return err
	}
	defer db.release(conn)
	return ended(conn, wrap(moving, fn(ctx, conn), engine.ErrConnLost))
}

// PutRows adds rows; see engine.Movable. They are one parameter, and their payloads are another.
func (db *DB) PutRows(ctx context.Context, tx engine.Tx, t *engine.Table, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	s := db.stored(t)
	list, payloads, err := s.encode(rows)
	if err == nil {
		_, err = tx.ExecContext(ctx, s.put(), list, payloads)
	}
	return wrap(moving, err, engine.ErrConnLost)
}

// DeleteRow deletes a row; see engine.Movable.
func (db *DB) DeleteRow(ctx context.Context, tx engine.Tx, t *engine.Table, key []any) error {
	args, err := db.arguments(append([]any(nil), key...))
	if err == nil {
		_, err = tx.ExecContext(ctx, db.stored(t).deletion(), args...)
	}
	return wrap(moving, err, engine.ErrConnLost)
}

// ClearTable deletes all rows; see engine.Movable.
func (db *DB) ClearTable(ctx context.Context, tx engine.Tx, t *engine.Table) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM "+db.stored(t).quoted())
	return wrap(moving, err, engine.ErrConnLost)
}

// Analyze updates the statistics of a table; see engine.Movable. Those that were made while it was
// empty would be used until a fifth of it has changed.
func (db *DB) Analyze(ctx context.Context, t *engine.Table) error {
	return db.onConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, db.stored(t).analysis())
		return err
	})
}

// InMove runs fn in a transaction that a fence lets pass; see engine.Movable.
func (db *DB) InMove(ctx context.Context, id [16]byte, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
		if err := passFence(ctx, tx, id); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// PutFence creates a trigger on every table; see engine.Movable. Creating one waits for all
// transactions that have written to the table.
func (db *DB) PutFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.inFence(ctx, f, tables, func(ctx context.Context, tx *sql.Tx) error {
		for i := range tables {
			if err := db.batch(ctx, tx, db.stored(&tables[i]).createFence(f)); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	})
}

// RemoveFence drops the triggers; see engine.Movable.
func (db *DB) RemoveFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.inFence(ctx, f, tables, func(ctx context.Context, tx *sql.Tx) error { return fn(ctx, tx) })
}
