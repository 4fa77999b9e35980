package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/internal/engine"
)

var _ engine.Movable = (*DB)(nil)

// movedState is the SQLSTATE of what the routine move_refuse raises.
const movedState = "PW001"

// fenceWait is how long a fence waits for a lock before it lets others pass and is repeated. It
// is below PostgreSQL's deadlock_timeout: in a deadlock with a program it is the fence that
// gives way.
const fenceWait = "500ms"

// TableRows reads rows of a table; see engine.Movable.
func (db *DB) TableRows(ctx context.Context, t *engine.Table, above []any, n int) ([][]any, error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	conn, err := db.acquire(ctx, "move")
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	from, args := db.folder.Names.Quote(t.Name), []any{}
	if t.Name == "outbox_limit_claim" { // a row has the messages of a claim, where other engines have one for each
		from = "(SELECT DISTINCT c.kind, c.name, i.id FROM " + from + " c, unnest(array_prepend(c.id, c.more)) i(id)) c"
	}
	query := "SELECT " + t.Quoted() + " FROM " + from
	if above != nil {
		args, err = moveValues(t.KeyColumns(), above)
		if err != nil {
			return nil, err
		}
		query += " WHERE (" + t.KeyQuoted() + ") > (" + places(len(args)) + ")"
	}
	query += fmt.Sprintf(" ORDER BY %s LIMIT %d", t.KeyQuoted(), n)
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil, wrap("move", err, engine.ErrConnLost)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) {
		values, err := row.Values()
		for i := range values {
			values[i] = movedValue(values[i])
		}
		return values, err
	})
	return all, wrap("move", err, engine.ErrConnLost)
}

// PutRows adds rows; see engine.Movable.
func (db *DB) PutRows(ctx context.Context, tx engine.Tx, t *engine.Table, rows [][]any) error {
	own, ok := Pgx(tx)
	if !ok {
		return engine.NotInTransaction(tx)
	}
	copied, pick := t.Copied()
	source := pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return moveValues(copied.Columns, pick(rows[i])) })
	if t.Shared {
		return db.putShared(ctx, own, copied, source)
	}
	names := make([]string, len(copied.Columns))
	for i, c := range copied.Columns {
		names[i] = c.Name
	}
	_, err := own.CopyFrom(ctx, db.identifier(t), names, source)
	return wrap("move", err, engine.ErrConnLost)
}

// identifier is a table's name for pgx.
func (db *DB) identifier(t *engine.Table) pgx.Identifier {
	return pgx.Identifier{db.folder.Names.Schema, db.folder.Names.Prefix + t.Name}
}

func (db *DB) putShared(ctx context.Context, tx pgx.Tx, t *engine.Table, rows pgx.CopyFromSource) error {
	query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING", db.folder.Names.Quote(t.Name), t.Quoted(), places(len(t.Columns)))
	for rows.Next() {
		values, err := rows.Values()
		if err == nil {
			_, err = tx.Exec(ctx, query, values...)
		}
		if err != nil {
			return wrap("move", err, engine.ErrConnLost)
		}
	}
	return rows.Err()
}

// DeleteRow deletes a row; see engine.Movable.
func (db *DB) DeleteRow(ctx context.Context, tx engine.Tx, t *engine.Table, key []any) error {
	args, err := moveValues(t.KeyColumns(), key)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM "+db.folder.Names.Quote(t.Name)+" WHERE ("+t.KeyQuoted()+") = ("+places(len(args))+")", args...)
	return wrap("move", err, engine.ErrConnLost)
}

// ClearTable deletes all rows; see engine.Movable.
func (db *DB) ClearTable(ctx context.Context, tx engine.Tx, t *engine.Table) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM "+db.folder.Names.Quote(t.Name))
	return wrap("move", err, engine.ErrConnLost)
}

// Analyze runs ANALYZE; see engine.Movable. Without it a claim of messages with ordering keys took
// 0.4 s instead of 2 ms beside 15 000 that wait, until autovacuum came by.
func (db *DB) Analyze(ctx context.Context, t *engine.Table) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	conn, err := db.acquire(ctx, "move")
	if err != nil {
		return err
	}
	defer conn.Release()
	_, err = conn.Exec(ctx, "ANALYZE "+db.folder.Names.Quote(t.Name))
	return wrap("move", err, engine.ErrConnLost)
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

func passFence(ctx context.Context, tx engine.Tx, id [16]byte) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_catalog.set_config('pawl_move.id', $1, true)", uuid.UUID(id).String())
	return wrap("move", err, engine.ErrConnLost)
}

// PutFence creates a trigger on every table; see engine.Movable. Creating one waits for all
// transactions that have written to the table.
func (db *DB) PutFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.inFence(ctx, f, tables, func(ctx context.Context, tx pgx.Tx) error {
		for _, t := range tables {
			text := fmt.Sprintf("CREATE TRIGGER pawl_move BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s('%s', %s)",
				db.folder.Names.Quote(t.Name), db.folder.Names.Quote("move_refuse"), uuid.UUID(f.ID), literal(f.Text()))
			if err := script(ctx, tx, text); err != nil {
				return err
			}
		}
		return fn(ctx, Tx(tx))
	})
}

// RemoveFence drops the triggers; see engine.Movable.
func (db *DB) RemoveFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.inFence(ctx, f, tables, func(ctx context.Context, tx pgx.Tx) error { return fn(ctx, Tx(tx)) })
}

// inFence runs fn in a transaction that has dropped the triggers.
func (db *DB) inFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return db.inMigration(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := script(ctx, tx, "SET LOCAL lock_timeout = '"+fenceWait+"'"); err != nil {
			return err
		}
		if err := db.dropFence(ctx, tx, tables); err != nil {
			return err
		}
		if err := passFence(ctx, Tx(tx), f.ID); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

func (db *DB) dropFence(ctx context.Context, tx pgx.Tx, tables []engine.Table) error {
	for _, t := range tables {
		if err := script(ctx, tx, "DROP TRIGGER IF EXISTS pawl_move ON "+db.folder.Names.Quote(t.Name)); err != nil {
			return err
		}
	}
	return nil
}

// literal quotes a text for a statement without parameters.
func literal(text string) string {
	text = strings.ReplaceAll(text, `'`, `''`)
	if strings.Contains(text, `\`) {
		return ` E'` + strings.ReplaceAll(text, `\`, `\\`) + `'`
	}
	return `'` + text + `'`
}

// places lists n parameters.
func places(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(all, ", ")
}

// movedValue converts a value that pgx read to one of an engine.Column.
func movedValue(v any) any {
	switch v := v.(type) {
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case pgtype.InfinityModifier: // times have only the one before all others
		return time.Time{}
	case pgtype.Interval:
		const day = 24 * time.Hour
		return time.Duration(v.Microseconds)*time.Microsecond + time.Duration(v.Days)*day + time.Duration(v.Months)*30*day
	}
	return v
}

// moveValues converts values of columns for pgx.
func moveValues(columns []engine.Column, values []any) ([]any, error) {
	args := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case [16]byte:
			args[i] = pgtype.UUID{Bytes: v, Valid: true}
		case time.Duration:
			args[i] = pgtype.Interval{Microseconds: v.Microseconds(), Valid: true}
		case time.Time:
			if v.IsZero() {
				args[i] = pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
				continue
			}
			args[i] = v
		case nil, int64, string, []byte, bool:
			args[i] = v
		default:
			return nil, fmt.Errorf("column %s: cannot copy a %T", columns[i].Name, v)
		}
	}
	return args, nil
}
