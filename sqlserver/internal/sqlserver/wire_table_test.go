package sqlserver_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// A batch of messages is one parameter: a table of pawl's own type, of the schema and the
// prefix that it was given. Runs, which have no payloads, are JSON.
func TestTableOnTheWire(t *testing.T) {
	due := time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)
	headers := `{"a":"b"}`
	enqueue := engine.Ask(op.OutboxEnqueue{
		Queues: []string{"default"},
		Runs:   []op.NewRun{{Lane: -7, Lo: 41, N: 2}},
		Messages: []op.NewMessage{
			{ID: 41, MessageID: token, Topic: "t", Headers: &headers, Payload: []byte{0, 255}, Lane: -7, DueAt: &due, Supplied: true},
			{ID: 42, Topic: "t", Lane: -7},
		},
	})
	for _, o := range []sqlserver.Options{{}, {Schema: "Own", Prefix: "x_"}} {
		w := onWire(t, always(changes(2)), func(w *wireOptions) { w.Options = o })
		enginetest.Must(t, w.do(enqueue))
		r := w.requests()[0]
		i := slices.IndexFunc(r.Params, func(p tdstest.Param) bool { return p.Type == tdstest.TableValued })
		if i < 0 {
			t.Fatalf("no table was sent: %s", r)
		}
		table := r.Params[i].Value.(tdstest.Table)
		schema, name := "pawl", "outbox_message_list"
		if o.Schema != "" {
			schema, name = o.Schema, o.Prefix+name
		}
		if table.Schema != schema || table.Name != name || len(table.Rows) != 2 || !strings.Contains(r.Declared, "READONLY") {
			t.Errorf("%s.%s with %d rows, declared %s", table.Schema, table.Name, len(table.Rows), r.Declared)
		}
		var types []string
		for _, c := range table.Columns {
			types = append(types, c.String())
		}
		if got := strings.Join(types, " "); got != "bigint uniqueidentifier nvarchar(max) nvarchar(max) nvarchar(max) varbinary(max) bigint bigint bit bigint" {
			t.Errorf("columns %s", got)
		}
		for row, want := range [][]any{
			{int64(41), token, "t", nil, headers, []byte{0, 255}, int64(-7), due.UnixMicro(), true, int64(0)},
			{int64(42), [16]byte{}, "t", nil, nil, []byte{}, int64(-7), nil, false, int64(0)},
		} {
			if !slices.EqualFunc(table.Rows[row], want, same) {
				t.Errorf("row %d: %v, want %v", row, table.Rows[row], want)
			}
		}
		if raw := hex.EncodeToString(r.Params[i].Raw); !strings.Contains(raw, tokenOnWire) {
			t.Errorf("the token is not in its order in the table: %s", raw)
		}
		runs := slices.IndexFunc(r.Params, func(p tdstest.Param) bool { return p.Type == tdstest.NVarCharMax })
		if runs < 0 || r.Params[runs].Value != `[{"lane":-7,"lo":41,"n":2}]` {
			t.Errorf("parameters %v", r.Params)
		}
	}
}

func same(a, b any) bool {
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && slices.Equal(x, y)
	}
	return a == b
}
