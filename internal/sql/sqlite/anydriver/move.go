package anydriver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

var _ engine.Movable = (*DB)(nil)

// TableRows reads rows of a table; see engine.Movable.
func (db *DB) TableRows(ctx context.Context, t *engine.Table, above []any, n int) (all [][]any, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	from, args := db.folder.Names.Quote(t.Name), []any{}
	if t.Name == "outbox_limit_claim" { // a row has the messages of a claim, where other engines may have one for each
		from = "(SELECT DISTINCT c.kind, c.name, i.value AS id FROM " + from + " c, json_each(json_insert(coalesce(c.more, '[]'), '$[#]', c.id)) i)"
	}
	query := "SELECT " + t.Quoted() + " FROM " + from
	if above != nil {
		args = moveValues(t.KeyColumns(), above)
		query += " WHERE (" + t.KeyQuoted() + ") > (" + places(len(args)) + ")"
	}
	query += fmt.Sprintf(" ORDER BY %s LIMIT %d", t.KeyQuoted(), n)
	err = db.reading(ctx, func(s *session) error {
		return s.query(query, args, func(r engine.Row) error {
			named, ok := r.(*tableRow)
			if !ok {
				return fmt.Errorf("sqlite: a row is a %T", r)
			}
			one := make([]any, len(named.row))
			for i, v := range named.row {
				var err error
				if one[i], err = movedValue(t.Columns[i], v); err != nil {
					return err
				}
			}
			all = append(all, one)
			return nil
		})
	})
	return all, wrap("move", err)
}

// PutRows adds rows; see engine.Movable.
func (db *DB) PutRows(ctx context.Context, tx engine.Tx, t *engine.Table, rows [][]any) error {
	copied, pick := t.Copied()
	query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", db.folder.Names.Quote(t.Name), copied.Quoted(), places(len(copied.Columns)))
	if t.Shared {
		query += " ON CONFLICT DO NOTHING"
	}
	for _, r := range rows {
		args, err := values(moveValues(copied.Columns, pick(r)))
		if err != nil {
			return wrap("move", err)
		}
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return wrap("move", err)
		}
	}
	return nil
}

// DeleteRow deletes a row; see engine.Movable.
func (db *DB) DeleteRow(ctx context.Context, tx engine.Tx, t *engine.Table, key []any) error {
	args, err := values(moveValues(t.KeyColumns(), key))
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM "+db.folder.Names.Quote(t.Name)+" WHERE ("+t.KeyQuoted()+") = ("+places(len(args))+")", args...)
	}
	return wrap("move", err)
}

// ClearTable deletes all rows; see engine.Movable.
func (db *DB) ClearTable(ctx context.Context, tx engine.Tx, t *engine.Table) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM "+db.folder.Names.Quote(t.Name))
	return wrap("move", err)
}

// Analyze does nothing: SQLite's plans are the statements' own.
func (db *DB) Analyze(context.Context, *engine.Table) error { return nil }

// InMove runs fn in a transaction that a fence lets pass; see engine.Movable. There is no other
// writer meanwhile, so that nobody else sees it open.
func (db *DB) InMove(ctx context.Context, _ [16]byte, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
		if err := db.openFence(ctx, tx, 1); err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return db.openFence(ctx, tx, 0)
	})
}

func (db *DB) openFence(ctx context.Context, tx engine.Tx, open int) error {
	_, err := tx.ExecContext(ctx, db.folder.Names.Render("UPDATE pawl.move SET open = ?1"), int64(open))
	return wrap("move", err)
}

// PutFence creates triggers on every table; see engine.Movable. Writers have ended: there is one
// at a time.
func (db *DB) PutFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
		if err := db.dropFence(ctx, tx, tables); err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		for _, t := range tables {
			for _, event := range fenceEvents() {
				text := fmt.Sprintf("CREATE TRIGGER %s BEFORE %s ON %s WHEN NOT (SELECT open FROM %s) BEGIN SELECT RAISE(ABORT, %s); END",
					db.fenceName(&t, event), event, db.folder.Names.Quote(t.Name), db.folder.Names.Quote("move"), literal(f.Text()))
				if _, err := tx.ExecContext(ctx, text); err != nil {
					return wrap("move", err)
				}
			}
		}
		return nil
	})
}

// RemoveFence drops the triggers; see engine.Movable.
func (db *DB) RemoveFence(ctx context.Context, _ engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
		if err := db.dropFence(ctx, tx, tables); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

func (db *DB) dropFence(ctx context.Context, tx engine.Tx, tables []engine.Table) error {
	for _, t := range tables {
		for _, event := range fenceEvents() {
			if _, err := tx.ExecContext(ctx, "DROP TRIGGER IF EXISTS "+db.fenceName(&t, event)); err != nil {
				return wrap("move", err)
			}
		}
	}
	return nil
}

func fenceEvents() []string { return []string{"INSERT", "UPDATE", "DELETE"} }

func (db *DB) fenceName(t *engine.Table, event string) string {
	return db.folder.Names.Quote("move_" + t.Name + "_" + strings.ToLower(event))
}

func literal(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }

// places lists n parameters.
func places(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("?%d", i+1)
	}
	return strings.Join(all, ", ")
}

// movedValue converts a value of a column, as SQLite stores it.
func movedValue(c engine.Column, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		if got := movedInt(c.Kind, v); got != nil {
			return got, nil
		}
	case []byte:
		if got := movedBytes(c.Kind, v); got != nil {
			return got, nil
		}
	case string: // of a payload that is text, too
		if got := movedBytes(c.Kind, []byte(v)); got != nil && c.Kind != engine.UUID {
			return got, nil
		}
	}
	return nil, fmt.Errorf("column %s: a %T", c.Name, v)
}

func movedInt(k engine.Kind, n int64) any {
	switch k {
	case engine.Int:
		return n
	case engine.Bool:
		return n != 0
	case engine.Time, engine.Until:
		return time.UnixMicro(n)
	case engine.Duration:
		return time.Duration(n) * time.Microsecond
	}
	return nil
}

func movedBytes(k engine.Kind, b []byte) any {
	switch {
	case k == engine.UUID && len(b) == 16:
		return [16]byte(b)
	case k == engine.Bytes, k == engine.Payload:
		return b
	case k == engine.Text:
		return string(b)
	}
	return nil
}

// moveValues converts values of columns to what SQLite stores.
func moveValues(columns []engine.Column, values []any) []any {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
		switch v := v.(type) {
		case bool:
			args[i] = int64(0)
			if v {
				args[i] = int64(1)
			}
		case time.Time:
			if v.IsZero() {
				args[i] = int64(0)
			}
		case []byte:
			if columns[i].Kind == engine.Payload {
				args[i] = body(v)
			}
		}
	}
	return args
}
