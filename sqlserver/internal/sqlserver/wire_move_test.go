package sqlserver_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
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

// movedTable is the table of a store with this name.
func movedTable(t testing.TB, name string) *engine.Table {
	t.Helper()
	for _, table := range engine.Tables() {
		if table.Name == name {
			return &table
		}
	}
	t.Fatalf("no table %s", name)
	return nil
}

var (
	someTime   = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
	everyTable = &engine.Table{Name: "outbox_claim", Key: []string{"id"}, Columns: []engine.Column{
		{Name: "id"}, {Name: "small"}, {Name: "text", Kind: engine.Text}, {Name: "raw", Kind: engine.Bytes}, {Name: "payload", Kind: engine.Payload}, {Name: "flag", Kind: engine.Bool},
		{Name: "uuid", Kind: engine.UUID}, {Name: "time", Kind: engine.Time}, {Name: "until", Kind: engine.Until}, {Name: "period", Kind: engine.Duration}, {Name: "nr", Own: true},
	}}
	everyType = []tdstest.Column{
		{Name: "id", Type: tdstest.BigInt}, {Name: "small", Type: tdstest.SmallInt}, {Name: "text", Type: tdstest.NVarChar(510)}, {Name: "raw", Type: tdstest.VarBinaryMax},
		{Name: "payload", Type: tdstest.VarBinaryMax}, {Name: "flag", Type: tdstest.Bit}, {Name: "uuid", Type: tdstest.UniqueIdentifier}, {Name: "time", Type: tdstest.DateTime2},
		{Name: "until", Type: tdstest.DateTime2}, {Name: "period", Type: tdstest.BigInt}, {Name: "nr", Type: tdstest.BigInt},
	}
	full  = []any{int64(-9_007_199_254_740_993), int64(-7), "grün 𝄞 \"\\\n ", []byte{}, []byte{0, 255}, true, token, someTime, someTime.Add(time.Hour), 1500 * time.Microsecond, int64(5)}
	early = []any{int64(2), int64(0), "", []byte("ab"), []byte("c"), false, [16]byte{}, time.Time{}, time.UnixMicro(0).UTC(), time.Duration(0), int64(6)}
	nulls = []any{int64(3), nil, nil, nil, nil, nil, nil, nil, nil, nil, int64(7)}
)

// D-316: rows are read as they are, in the engine's own types, with their microseconds.
func TestMovedRowsAreRead(t *testing.T) {
	sent := func(row []any) []any {
		row = slices.Clone(row)
		if d, ok := row[9].(time.Duration); ok {
			row[9] = d.Microseconds()
		}
		return row
	}
	w := onWire(t, always(tdstest.Answered(tdstest.Rows(everyType, sent(full), sent(early), sent(nulls)))))
	rows, err := w.TableRows(t.Context(), everyTable, nil, 3)
	enginetest.Must(t, err)
	for i, want := range [][]any{full, early, nulls} {
		if len(rows) <= i || !reflect.DeepEqual(rows[i], want) {
			t.Fatalf("row %d of %v, want %v", i, rows, want)
		}
	}
	if first := rows[1][7].(time.Time); !first.IsZero() {
		t.Errorf("before all others is %v", first)
	}
	r := w.requests()[0]
	if w.kinds() != "call" || r.Transaction != 0 || len(r.Params) != 1 || r.Params[0].Value != int64(3) {
		t.Errorf("asked %q with %v", w.kinds(), r.Params)
	}
	inOrder(t, r.SQL, "READ COMMITTED", `IF OBJECT_ID(N'"pawl"."move_outbox_claimed"', N'TR') IS NULL`, "READPAST, READCOMMITTEDLOCK", "ELSE", `FROM "pawl"."outbox_claimed" t ORDER BY "id"`)
}

// D-316: what programs have locked is passed over while a store is worked on, and only where it is read
// again or does no harm; never behind the fence, where it is a row that a refused writer leaves as it was.
func TestMovedRowsThatAreLocked(t *testing.T) {
	w := onWire(t, nil)
	for _, table := range engine.Tables() {
		w.now(func(r *tdstest.Request) tdstest.Answer {
			var columns []tdstest.Column
			for _, c := range table.Columns {
				columns = append(columns, tdstest.Column{Name: c.Name, Type: tdstest.NVarCharMax})
			}
			return tdstest.Answered(tdstest.Rows(columns))
		})
		before := len(w.requests())
		_, err := w.TableRows(t.Context(), &table, nil, 1)
		enginetest.Must(t, err)
		working, fenced, _ := strings.Cut(w.requests()[before].SQL, "ELSE")
		passed := slices.Contains([]string{"outbox_message", "outbox_claim", "outbox_lane"}, table.Name)
		if strings.Contains(working, "READPAST") != passed || passed != (fenced != "") || strings.Contains(fenced, "READPAST") || strings.Contains(working, "IF OBJECT_ID") != passed {
			t.Errorf("%s is read by %s", table.Name, w.requests()[before].SQL)
		}
	}
}

// D-316: what cannot be read is an error, which holds no value.
func TestMovedRowsThatCannotBeRead(t *testing.T) {
	w := onWire(t, always(tdstest.Answered(tdstest.Rows([]tdstest.Column{{Name: "id", Type: tdstest.NVarCharMax}}, []any{"top secret"}))))
	_, err := w.TableRows(t.Context(), &engine.Table{Name: "timer", Key: []string{"id"}, Columns: []engine.Column{{Name: "id"}}}, nil, 3)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "id") {
		t.Error(err)
	}
	w.now(always(tdstest.Dropped(tdstest.Before)))
	_, err = w.TableRows(t.Context(), movedTable(t, "timer"), nil, 3)
	enginetest.WantClass(t, err, engine.ErrConnLost)
	w.now(always(tdstest.Failed(1222, "Lock request time out period exceeded.")))
	_, err = w.TableRows(t.Context(), movedTable(t, "timer"), nil, 3)
	enginetest.WantClass(t, err, engine.ErrBusy)
}

// D-316: a page begins above a key, of whatever types.
func TestMovedPages(t *testing.T) {
	w := onWire(t, always(tdstest.Answered(tdstest.Rows(nil))))
	for name, key := range map[string][]any{"outbox_message": {int64(7)}, "outbox_join_result": {token, int64(7)}, "inbox": {"s", "m "}} {
		before := len(w.requests())
		w.now(func(r *tdstest.Request) tdstest.Answer {
			var columns []tdstest.Column
			for _, c := range movedTable(t, name).Columns {
				columns = append(columns, tdstest.Column{Name: c.Name, Type: tdstest.NVarCharMax})
			}
			return tdstest.Answered(tdstest.Rows(columns))
		})
		_, err := w.TableRows(t.Context(), movedTable(t, name), key, 100)
		enginetest.Must(t, err)
		r := w.requests()[before]
		if len(r.Params) != len(key)+1 {
			t.Fatalf("%s: %d parameters", name, len(r.Params))
		}
		for i, want := range key {
			if r.Params[i+1].Value != want {
				t.Errorf("%s: parameter %v, want %v", name, r.Params[i+1].Value, want)
			}
		}
		if name == "outbox_join_result" {
			if hex.EncodeToString(r.Params[1].Raw) != tokenOnWire {
				t.Errorf("the key was sent as %x", r.Params[1].Raw)
			}
			inOrder(t, r.SQL, `"join_id" = @p2 AND "id" > @p3`, "UNION ALL", `"join_id" > @p2`)
		}
	}
}

// D-316: rows are added by one statement, of two parameters: a list, and all payloads. Columns of
// the database's own are left out.
func TestMovedRowsAreAdded(t *testing.T) {
	w := onWire(t, called(tdstest.Answered(tdstest.Counted(3))))
	enginetest.Must(t, w.InMove(t.Context(), token, func(ctx context.Context, tx engine.Tx) error {
		return errors.Join(w.PutRows(ctx, tx, everyTable, nil), w.PutRows(ctx, tx, everyTable, [][]any{full, early, nulls}))
	}))
	if w.kinds() != "begin call call commit" {
		t.Fatalf("asked %q", w.kinds())
	}
	r := w.requests()[2]
	if len(r.Params) != 2 || r.Transaction == 0 || !strings.Contains(r.Declared, "@p1 nvarchar(max)") {
		t.Fatalf("parameters %v, declared %s", r.Params, r.Declared)
	}
	inOrder(t, r.SQL, `INSERT INTO "pawl"."outbox_claimed" ("id", "small", "text", "raw", "payload", "flag", "uuid", "time", "until", "period") SELECT`,
		`SUBSTRING(@p2, j."raw_at", j."raw_size")`, "OPENJSON(@p1)", `"flag" bit, "uuid" uniqueidentifier, "time" datetime2(7), "until" datetime2(7), "period" bigint`, `ORDER BY j."row"`)
	if got := r.Params[1].Value.([]byte); string(got) != "\x00\xffabc" {
		t.Errorf("payloads %q", got)
	}
	d := json.NewDecoder(strings.NewReader(r.Params[0].Value.(string)))
	d.UseNumber()
	var list []map[string]any
	enginetest.Must(t, d.Decode(&list))
	want := []map[string]any{
		{"row": json.Number("0"), "id": json.Number("-9007199254740993"), "small": json.Number("-7"), "text": "grün 𝄞 \"\\\n ", "raw_at": json.Number("1"), "raw_size": json.Number("0"), "payload_at": json.Number("1"), "payload_size": json.Number("2"),
			"flag": true, "uuid": "01234567-89ab-cdef-fedc-ba9876543210", "time": "2026-01-02T03:04:05.6789010", "until": "2026-01-02T04:04:05.6789010", "period": json.Number("1500")},
		{"row": json.Number("1"), "id": json.Number("2"), "small": json.Number("0"), "text": "", "raw_at": json.Number("3"), "raw_size": json.Number("2"), "payload_at": json.Number("5"), "payload_size": json.Number("1"),
			"flag": false, "uuid": "00000000-0000-0000-0000-000000000000", "time": "0001-01-01T00:00:00.0000000", "until": "1970-01-01T00:00:00.0000000", "period": json.Number("0")},
		{"row": json.Number("2"), "id": json.Number("3")},
	}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("sent\n%v\nwant\n%v", list, want)
	}
}

// D-316: rows that may be there already are added where they are not, and those that name a limit
// here find it by its kind and name.
func TestMovedRowsOfOtherShapes(t *testing.T) {
	w := onWire(t, called(tdstest.Answered(tdstest.Counted(1))))
	key := []any{"topic", "mail", int64(7)}
	enginetest.Must(t, w.InTx(t.Context(), func(ctx context.Context, tx engine.Tx) error {
		limits := movedTable(t, "outbox_limit_claim")
		return errors.Join(
			w.PutRows(ctx, tx, movedTable(t, "outbox_lane"), [][]any{{int64(1), int64(0), int64(0), "q", "", nil}}),
			w.PutRows(ctx, tx, limits, [][]any{key}),
			w.DeleteRow(ctx, tx, limits, key),
			w.DeleteRow(ctx, tx, movedTable(t, "outbox_pause"), []any{"queue", "q "}),
			w.ClearTable(ctx, tx, movedTable(t, "outbox_join_wait")))
	}))
	enginetest.Must(t, w.Analyze(t.Context(), movedTable(t, "outbox_claim")))
	all := w.requests()
	if w.kinds() != "begin call call call call batch commit batch" {
		t.Fatalf("asked %q", w.kinds())
	}
	inOrder(t, all[1].SQL, `INSERT INTO "pawl"."outbox_lane"`, `WHERE NOT EXISTS (SELECT 1 FROM "pawl"."outbox_lane" k WHERE k."id" = j."id")`)
	inOrder(t, all[2].SQL, `INSERT INTO "pawl"."outbox_limit_claim" (of_limit, id) SELECT l.seq`, `"pawl"."outbox_limit" l ON l.kind = j.kind AND l.name = j.name AND l.size = DATALENGTH(j.name)`)
	inOrder(t, all[3].SQL, `DELETE FROM "pawl"."outbox_limit_claim" WHERE id = @p3 AND of_limit IN (SELECT l.seq`)
	inOrder(t, all[4].SQL, `DELETE FROM "pawl"."outbox_pause" WHERE "kind" = CAST(@p1`, `"name" = CAST(@p2`, "size = DATALENGTH(CAST(@p2")
	if p := all[1].Params[1]; p.Value == nil || len(p.Value.([]byte)) > 0 { // of null there would be no part
		t.Errorf("no payloads are sent as %v", p.Value)
	}
	if p := all[4].Params; len(p) != 2 || p[0].Value != "queue" || p[1].Value != "q " {
		t.Errorf("parameters %v", p)
	}
	if all[5].SQL != `DELETE FROM "pawl"."outbox_join_waiting"` || all[7].SQL != `UPDATE STATISTICS "pawl"."outbox_claimed"` || all[7].Transaction != 0 {
		t.Errorf("sent %q and %q", all[5].SQL, all[7].SQL)
	}
}

// D-317: a fence is one transaction, behind the lock of migrations: it waits only briefly for
// locks, takes the right to pass, which ends with the transaction, and creates the triggers each in a
// batch of its own.
func TestFenceOnTheWire(t *testing.T) {
	fence := engine.Fence{ID: token, Place: "sqlserver://u:xxxxx@h?app+name=it's"}
	for _, o := range []sqlserver.Options{{}, {Schema: "Own", Prefix: "x_"}} {
		w := onWire(t, nil, func(w *wireOptions) { w.Options = o })
		write := func(ctx context.Context, tx engine.Tx) error { return w.DoTx(ctx, tx, engine.Ask(op.MoveClear{})) }
		enginetest.Must(t, w.PutFence(t.Context(), fence, engine.Tables(), write))
		all := w.requests()
		var texts []string
		for i, r := range all {
			texts = append(texts, r.SQL)
			if i > 0 && (r.Transaction == 0 || r.Transaction != all[1].Transaction) {
				t.Errorf("outside of the transaction: %s", r)
			}
			if strings.Contains(r.SQL, "CREATE TRIGGER") && (r.Kind != tdstest.Batch || !strings.HasPrefix(r.SQL, "CREATE TRIGGER")) {
				t.Errorf("not a batch of its own: %s", r)
			}
		}
		text := strings.Join(texts, "\n")
		claims := `"pawl"."move_outbox_claimed" ON "pawl"."outbox_claimed"`
		if o.Schema != "" {
			claims = `"Own"."x_move_outbox_claimed" ON "Own"."x_outbox_claimed"`
		}
		inOrder(t, text, "SET XACT_ABORT ON", "sp_getapplock", "SET LOCK_TIMEOUT 5000", "SET LOCK_TIMEOUT 500; SET DEADLOCK_PRIORITY LOW", "DROP TRIGGER", "sp_getapplock @Resource = @p1, @LockMode = N'Shared', @LockOwner = N'Transaction'",
			"CREATE TRIGGER "+claims+" AFTER INSERT, UPDATE, DELETE AS\nIF APPLOCK_MODE(N'public', N'pawl.move/01234567-89ab-cdef-fedc-ba9876543210', N'Transaction') = N'NoLock'\n  THROW 57104, N'pawl: moved to sqlserver://u:xxxxx@h?app+name=it''s; nothing was written', 1",
			"move_table", "SET DEADLOCK_PRIORITY NORMAL", "SET LOCK_TIMEOUT -1; SET XACT_ABORT OFF")
		if n := strings.Count(text, "CREATE TRIGGER"); n != len(engine.Tables()) || strings.Count(text, "DROP TRIGGER") != n {
			t.Errorf("%d triggers", n)
		}
		passes := slices.IndexFunc(all, func(r *tdstest.Request) bool { return strings.Contains(r.SQL, "N'Shared'") })
		if got := all[passes].Params[0].Value; got != "pawl.move/01234567-89ab-cdef-fedc-ba9876543210" {
			t.Errorf("the lock of the move is %v", got)
		}
		before := len(all)
		enginetest.Must(t, w.RemoveFence(t.Context(), fence, engine.Tables(), write))
		text = ""
		for _, r := range w.requests()[before:] {
			text += r.SQL + "\n"
		}
		inOrder(t, text, "SET LOCK_TIMEOUT 500;", "DROP TRIGGER", "move_table", "SET DEADLOCK_PRIORITY NORMAL")
		if strings.Contains(text, "CREATE TRIGGER") || strings.Count(text, "DROP TRIGGER") != len(engine.Tables()) {
			t.Error("not all triggers were dropped")
		}
	}
}

// D-317: a fence that cannot be put, because programs keep transactions open, changes nothing and can be
// repeated.
func TestFenceWaitsForNobodyLong(t *testing.T) {
	for number, class := range map[int32]error{1222: engine.ErrBusy, 1205: engine.ErrDeadlock} {
		w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
			if strings.HasPrefix(r.SQL, "CREATE TRIGGER") && strings.Contains(r.SQL, "timer") {
				return tdstest.Failed(number, "Lock request time out period exceeded.")
			}
			return tdstest.Answer{}
		})
		err := w.PutFence(t.Context(), engine.Fence{ID: token}, engine.Tables(), func(context.Context, engine.Tx) error {
			t.Error("what belongs to the fence was done")
			return nil
		})
		enginetest.WantClass(t, err, class)
		if strings.Contains(w.kinds(), "commit") {
			t.Errorf("asked %q", w.kinds())
		}
	}
	mine := errors.New("mine")
	w := onWire(t, nil)
	err := w.PutFence(t.Context(), engine.Fence{ID: token}, engine.Tables(), func(context.Context, engine.Tx) error { return mine })
	if !errors.Is(err, mine) || !strings.HasSuffix(w.kinds(), " rollback") {
		t.Errorf("asked %q, %v", w.kinds(), err)
	}
}

// D-317: the right to pass a fence belongs to the transaction: nothing is left of it on a
// connection whose transaction was rolled back.
func TestPassEndsWithTheTransaction(t *testing.T) {
	w := onWire(t, called(tdstest.Answered(tdstest.Counted(0))))
	mine := errors.New("mine")
	if err := w.InMove(t.Context(), token, func(context.Context, engine.Tx) error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	if w.kinds() != "begin call rollback" {
		t.Errorf("asked %q", w.kinds())
	}
	r := w.requests()[1]
	if !strings.Contains(r.SQL, "@LockOwner = N'Transaction'") || strings.Contains(r.SQL, "Session") || r.Transaction == 0 {
		t.Errorf("sent %s", r)
	}
	w.now(called(tdstest.Failed(57103, "could not lock the move")))
	enginetest.WantClass(t, w.InMove(t.Context(), token, func(context.Context, engine.Tx) error { return nil }), engine.ErrBusy)
}

// wantMoved checks that an error says where a store is.
func wantMoved(t testing.TB, err error, place string) {
	t.Helper()
	var moved *engine.MovedError
	if !errors.As(err, &moved) || moved.Place() != place || !errors.Is(err, engine.ErrMoved) || engine.Retryable(err) {
		t.Errorf("want a store that moved to %q, got %T: %v", place, err, err)
	}
}

// D-318: what a fence refuses says where the store is, also where the server says behind it that
// it rolls the transaction back; and it is not tried again.
func TestRefusedByAFence(t *testing.T) {
	const place = "postgres://u:xxxxx@there/new?a=%20"
	answer := tdstest.Failed(57104, engine.Fence{Place: place}.Text())
	behind := tdstest.Doomed(57104, engine.Fence{Place: place}.Text())
	for _, answer := range []tdstest.Answer{answer, behind} {
		w := onWire(t, always(answer))
		wantMoved(t, w.do(extend()), place)
		if w.kinds() != "call" {
			t.Errorf("asked %q", w.kinds())
		}
		w.now(called(answer))
		tx, err := w.pool.BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		wantMoved(t, w.DoTx(t.Context(), tx, extend()), place)
		_ = tx.Rollback()
		w.now(called(answer))
		wantMoved(t, w.InMove(t.Context(), token, func(ctx context.Context, tx engine.Tx) error { return w.ClearTable(ctx, tx, everyTable) }), place)
	}
}

// D-318: a place with a %, which THROW takes for a format, is read where the move is recorded; what a
// fence refuses is of a store that was moved, also where that cannot be read.
func TestPlacesThatAreFormats(t *testing.T) {
	w := onWire(t, nil)
	enginetest.Must(t, w.PutFence(t.Context(), engine.Fence{ID: token, Place: "postgres://h/a%20b"}, engine.Tables()[:1], func(context.Context, engine.Tx) error { return nil }))
	text := ""
	for _, r := range w.requests() {
		if strings.HasPrefix(r.SQL, "CREATE TRIGGER") {
			_, text, _ = strings.Cut(r.SQL, "THROW 57104, N'")
		}
	}
	text, _, _ = strings.Cut(text, "'")
	if text == "" || strings.Contains(text, "%") || engine.MovedClass(text) != nil || !strings.Contains(text, `"pawl"."move"`) {
		t.Errorf("the fence says %q", text)
	}
	w.now(func(r *tdstest.Request) tdstest.Answer {
		if strings.Contains(r.SQL, "schema_name") {
			return state(op.Moved, "postgres://h/a%20b")
		}
		return tdstest.Failed(57104, text)
	})
	wantMoved(t, w.do(extend()), "postgres://h/a%20b")
	w.now(always(tdstest.Failed(57104, text)))
	if err := w.do(extend()); !errors.Is(err, engine.ErrMoved) || engine.Retryable(err) {
		t.Error(err)
	}
}

// state answers a question for the state of a move.
func state(phase, place any) tdstest.Answer {
	text := tdstest.NVarCharMax
	return tdstest.Answered(tdstest.Rows([]tdstest.Column{{Name: "store", Type: tdstest.UniqueIdentifier}, {Name: "id", Type: tdstest.UniqueIdentifier}, {Name: "role", Type: text},
		{Name: "phase", Type: text}, {Name: "place", Type: text}, {Name: "schema_name", Type: text}, {Name: "prefix", Type: text}}, []any{token, nil, phase, phase, place, nil, nil}), committed)
}

// D-318: the server refuses a statement with OUTPUT and no INTO on a table with a fence before that can
// say why: where the store is, is read then. A trigger of somebody else's is no move.
func TestOutputOnATableWithAFence(t *testing.T) {
	refused := tdstest.Failed(334, "The target table 'pawl.outbox_message' of the DML statement cannot have any enabled triggers if the statement contains an OUTPUT clause without INTO clause.")
	for _, c := range []struct {
		phase, place any
		moved        bool
	}{{op.Closed, "there", true}, {op.Moved, "there", true}, {op.Filling, "", true}, {op.Copying, "there", false}, {op.Arrived, "there", false}, {nil, nil, false}} {
		answer := func(r *tdstest.Request) tdstest.Answer {
			switch {
			case strings.Contains(r.SQL, "schema_name"):
				return state(c.phase, c.place)
			case r.Kind == tdstest.Call:
				return refused
			}
			return tdstest.Answer{}
		}
		check := func(err error) {
			t.Helper()
			if place, _ := c.place.(string); c.moved {
				wantMoved(t, err, place)
			} else if errors.Is(err, engine.ErrMoved) {
				t.Errorf("%v: %v", c.phase, err)
			}
			var own interface{ SQLErrorNumber() int32 }
			if !errors.As(err, &own) || own.SQLErrorNumber() != 334 {
				t.Errorf("%v: the driver's error is not reachable: %v", c.phase, err)
			}
		}
		w := onWire(t, answer)
		check(w.do(extend()))
		for _, room := range []int{1, 2} { // the caller's transaction has the only connection, or another one is free
			w.pool.SetMaxOpenConns(room)
			tx, err := w.pool.BeginTx(t.Context(), nil)
			enginetest.Must(t, err)
			before := len(w.requests())
			check(w.DoTx(t.Context(), tx, extend()))
			last := w.requests()[len(w.requests())-1]
			if last.Transaction == 0 != (room == 2) || len(w.requests()) != before+2 {
				t.Errorf("%d connections: asked %q", room, w.kinds())
			}
			enginetest.Must(t, tx.Rollback())
		}
	}
}
