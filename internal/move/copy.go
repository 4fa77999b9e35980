package move

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	// batchRows bounds a transaction and the memory of the move, together with batchBytes.
	batchRows  = 2000
	firstBatch = 100
	batchBytes = 8 << 20
	// compareRows is how many ids are compared at once.
	compareRows = 20_000
)

// copyTable copies a table, from the row on that was copied last.
func (m *mover) copyTable(ctx context.Context, t *engine.Table) error {
	at, err := m.progress(ctx, t.Name)
	if err != nil || at.IsOver {
		return err
	}
	above, err := decodeKey(t, at.Last)
	if err != nil {
		return err
	}
	for n := m.opts.Batch; !at.IsOver; {
		rows, err := m.a.TableRows(ctx, t, above, n)
		if err != nil {
			return err
		}
		before := at.Last
		at.IsOver = len(rows) < n
		at.N += int64(len(rows))
		if len(rows) > 0 {
			above = t.KeyOf(rows[len(rows)-1])
			at.Last = encodeKey(above)
		}
		m.shift(t, rows)
		if err := m.write(ctx, t, rows, before, at); err != nil {
			return err
		}
		n = nextBatch(rows, n)
	}
	if at.N == 0 {
		return nil
	}
	return m.b.Analyze(ctx, t)
}

// nextBatch returns how many rows to copy at once, so that they are about batchBytes.
func nextBatch(rows [][]any, n int) int {
	size := 1
	for _, row := range rows {
		for _, v := range row {
			switch v := v.(type) {
			case string:
				size += len(v)
			case []byte:
				size += len(v)
			}
		}
	}
	if len(rows) == 0 {
		return n
	}
	return max(1, min(batchRows, 4*n, batchBytes*len(rows)/size))
}

// write adds rows and records how far the table is, in one transaction.
func (m *mover) write(ctx context.Context, t *engine.Table, rows [][]any, before string, at op.MovedTable) error {
	err := m.inNew(ctx, func(ctx context.Context, tx engine.Tx) error {
		copied := engine.Ask(op.MoveCopied{Name: at.Name, Before: before, Last: at.Last, N: at.N, IsOver: at.IsOver})
		if err := m.alone(ctx, tx, m.new, copied); err != nil {
			return err
		}
		return m.b.PutRows(ctx, tx, t, rows)
	})
	if err == nil {
		m.report.Rows[t.Name] += int64(len(rows))
	}
	return err
}

// progress returns how far a table was copied.
func (m *mover) progress(ctx context.Context, name string) (op.MovedTable, error) {
	all, err := engine.Query(ctx, m.new.DB, op.MoveTables{})
	for _, at := range all {
		if at.Name == name {
			return at, err
		}
	}
	return op.MovedTable{Name: name}, err
}

// shift turns the ends of leases into times of the new database's clock, so that each lasts as
// long as its holder believes.
func (m *mover) shift(t *engine.Table, rows [][]any) {
	for i, c := range t.Columns {
		if c.Kind != engine.Until {
			continue
		}
		for _, row := range rows {
			if end, ok := row[i].(time.Time); ok {
				row[i] = end.Add(m.skew)
			}
		}
	}
}

// compareMessages copies the messages that were committed late, and deletes those that the store
// deleted meanwhile. Nobody writes to it now.
func (m *mover) compareMessages(ctx context.Context) error {
	ids := engine.Table{Name: m.messages.Name, Key: m.messages.Key, Columns: m.messages.KeyColumns()}
	var above []any
	for {
		want, err := m.a.TableRows(ctx, &ids, above, compareRows)
		if err != nil {
			return err
		}
		have, err := m.b.TableRows(ctx, &ids, above, compareRows)
		if err != nil {
			return err
		}
		// Beyond the end of the shorter page nothing is known of the other.
		end := min(endOf(want), endOf(have))
		missing, excess := difference(want, have, end)
		if err := m.correct(ctx, missing, excess); err != nil {
			return err
		}
		if len(want) < compareRows && len(have) < compareRows {
			return nil
		}
		above = []any{end}
	}
}

// endOf returns up to which id a page is complete.
func endOf(page [][]any) int64 {
	if len(page) < compareRows {
		return 1<<63 - 1
	}
	return page[len(page)-1][0].(int64)
}

// difference returns the ids up to end that are in one page only.
func difference(want, have [][]any, end int64) (missing, excess []int64) {
	i, k := 0, 0
	at := func(page [][]any, i int) int64 {
		if i < len(page) {
			if id := page[i][0].(int64); id <= end {
				return id
			}
		}
		return 1<<63 - 1
	}
	for {
		a, b := at(want, i), at(have, k)
		switch {
		case a == b && a == 1<<63-1:
			return missing, excess
		case a == b:
			i++
			k++
		case a < b:
			missing = append(missing, a)
			i++
		default:
			excess = append(excess, b)
			k++
		}
	}
}

// correct copies and deletes single messages.
func (m *mover) correct(ctx context.Context, missing, excess []int64) error {
	for part := range slices.Chunk(excess, batchRows) {
		err := m.inNew(ctx, func(ctx context.Context, tx engine.Tx) error {
			for _, id := range part {
				if err := m.b.DeleteRow(ctx, tx, m.messages, []any{id}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for n := m.opts.Batch; len(missing) > 0; {
		rows, left, err := m.read(ctx, missing, n)
		if err != nil {
			return err
		}
		missing = left
		err = m.inNew(ctx, func(ctx context.Context, tx engine.Tx) error { return m.b.PutRows(ctx, tx, m.messages, rows) })
		if err != nil {
			return err
		}
		m.report.Rows[m.messages.Name] += int64(len(rows))
		n = nextBatch(rows, n)
	}
	return nil
}

// read returns some of the messages of sorted ids, and the ids that are left.
func (m *mover) read(ctx context.Context, ids []int64, n int) (rows [][]any, left []int64, err error) {
	page, err := m.a.TableRows(ctx, m.messages, []any{ids[0] - 1}, n)
	if err != nil || len(page) == 0 {
		return nil, nil, err
	}
	key := slices.IndexFunc(m.messages.Columns, func(c engine.Column) bool { return c.Name == m.messages.Key[0] })
	left = ids
	for _, row := range page {
		if len(left) > 0 && row[key].(int64) == left[0] {
			rows, left = append(rows, row), left[1:]
		}
	}
	return rows, left, nil
}

// encodeKey writes a key as JSON. UUIDs are arrays of bytes.
func encodeKey(key []any) string {
	text, err := json.Marshal(key)
	if err != nil {
		panic(err) // of integers, texts and UUIDs
	}
	return string(text)
}

// decodeKey reads what encodeKey wrote; nil for "".
func decodeKey(t *engine.Table, text string) ([]any, error) {
	if text == "" {
		return nil, nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return nil, err
	}
	columns := t.KeyColumns()
	if len(parts) != len(columns) {
		return nil, fmt.Errorf("table %s: a key of %d columns, want %d", t.Name, len(parts), len(columns))
	}
	key := make([]any, len(parts))
	for i, part := range parts {
		var err error
		switch columns[i].Kind {
		case engine.Int:
			key[i], err = decode[int64](part)
		case engine.Text:
			key[i], err = decode[string](part)
		case engine.UUID:
			key[i], err = decode[[16]byte](part)
		default:
			err = fmt.Errorf("table %s: column %s cannot be of a key", t.Name, columns[i].Name)
		}
		if err != nil {
			return nil, err
		}
	}
	return key, nil
}

func decode[T any](part []byte) (v T, err error) {
	err = json.Unmarshal(part, &v)
	return v, err
}
