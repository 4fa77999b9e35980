package sqlserver_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

var token = [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10}

// tokenOnWire is token behind its length, with the first three groups reversed.
const tokenOnWire = "10" + "67452301" + "ab89" + "efcd" + "fedcba9876543210"

// extend is an operation that answers how many rows it changed.
func extend() *engine.Call {
	return engine.Ask(op.InboxExtend{InboxKey: op.InboxKey{Source: "billing", MessageID: "m'1"}, Token: token, Lease: 1500 * time.Microsecond})
}

// inOrder fails the test unless parts lie in a text in this order.
func inOrder(t testing.TB, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		_, after, found := strings.Cut(rest, p)
		if !found {
			t.Fatalf("%q is missing, or not in its place, in:\n%s", p, text)
		}
		rest = after
	}
}

// D-113, OBX-001: a change is one round trip: a transaction at read committed, whatever
// the connection's level, in which the statement runs by sp_executesql.
func TestChangeOnTheWire(t *testing.T) {
	w := onWire(t, always(changes(1)))
	call := extend()
	enginetest.Must(t, w.do(call))
	if call.N != 1 || w.kinds() != "call" {
		t.Fatalf("changed %d, asked %q", call.N, w.kinds())
	}
	r := w.requests()[0]
	if r.Procedure != "sp_executesql" || r.Transaction != 0 {
		t.Errorf("%s, in transaction %d", r, r.Transaction)
	}
	inOrder(t, r.SQL, "SET NOCOUNT ON", "SET XACT_ABORT ON", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN TRANSACTION",
		"EXEC sys.sp_executesql N'", "SYSUTCDATETIME()", "UPDATE ", "@@ROWCOUNT", "COMMIT TRANSACTION")
	types := map[string]any{}
	for _, p := range r.Params {
		types[p.Type.String()] = p.Value
		if p.Type == tdstest.UniqueIdentifier && hex.EncodeToString(p.Raw) != tokenOnWire {
			t.Errorf("the token was sent as %x", p.Raw)
		}
	}
	if len(r.Params) != 4 || types["bigint"] != int64(1500) || types["uniqueidentifier"] != token || types["nvarchar(max)"] == nil {
		t.Errorf("parameters %v", r.Params)
	}
	if bytes.Contains(r.Body, []byte("m'1")) || strings.Contains(r.SQL, "billing") {
		t.Error("a value is in the statement's text")
	}
}

// A read is one round trip too; its rows come as they were sent.
func TestReadOnTheWire(t *testing.T) {
	columns := []tdstest.Column{{Name: "id", Type: tdstest.BigInt}, {Name: "queue", Type: tdstest.NVarChar(510)}, {Name: "priority", Type: tdstest.SmallInt}}
	w := onWire(t, always(tdstest.Answered(tdstest.Rows(columns, []any{-5, "naïve", 3}, []any{6, "b", -1}), committed)))
	lanes, err := engine.Query(t.Context(), w.DB, op.OutboxLanes{})
	enginetest.Must(t, err)
	if len(lanes) != 2 || lanes[0] != (op.Lane{ID: -5, Queue: "naïve", Priority: 3}) || lanes[1] != (op.Lane{ID: 6, Queue: "b", Priority: -1}) {
		t.Errorf("%+v", lanes)
	}
	if r := w.requests(); len(r) != 1 || r[0].Kind != tdstest.Batch { // it has no parameters
		t.Errorf("asked %q", w.kinds())
	}
}

// D-9: a column that cannot be read is about its row alone.
func TestUnreadableColumnOnTheWire(t *testing.T) {
	columns := []tdstest.Column{{Name: "id", Type: tdstest.BigInt}, {Name: "queue", Type: tdstest.NVarCharMax}, {Name: "priority", Type: tdstest.SmallInt}}
	w := onWire(t, always(tdstest.Answered(tdstest.Rows(columns, []any{1, nil, 3}, []any{2, "b", 4}), committed)))
	var faults int
	var lanes []op.Lane
	enginetest.Must(t, w.Read(t.Context(), engine.Each(op.OutboxLanes{}, func(row *op.Lane, unread error) error {
		lanes = append(lanes, *row)
		if unread != nil {
			faults++
		}
		return nil
	})))
	if faults != 1 || len(lanes) != 2 || lanes[0].Priority != 3 || lanes[1].Queue != "b" {
		t.Errorf("%d faults, %+v", faults, lanes)
	}
}

// D-3: several calls of one Do are one round trip and one transaction, answered in order.
func TestSeveralCallsOnTheWire(t *testing.T) {
	lanes := tdstest.Rows([]tdstest.Column{{Name: "id", Type: tdstest.BigInt}, {Name: "queue", Type: tdstest.NVarCharMax}, {Name: "priority", Type: tdstest.Int}}, []any{4, "q", 0})
	a := tdstest.Answered(tdstest.Rows(changed, []any{2}), lanes, tdstest.Rows(changed, []any{0}), committed)
	w := onWire(t, always(a))
	var got []op.Lane
	first, last := extend(), extend()
	enginetest.Must(t, w.do(first, engine.List(op.OutboxLanes{}, &got), last))
	if first.N != 2 || last.N != 0 || len(got) != 1 || got[0].Queue != "q" {
		t.Errorf("%d, %+v, %d", first.N, got, last.N)
	}
	r := w.requests()[0]
	if len(w.requests()) != 1 || strings.Count(r.SQL, "BEGIN TRANSACTION") != 1 || strings.Count(r.SQL, "COMMIT TRANSACTION") != 1 || len(r.Params) != 8 {
		t.Errorf("%d parameters, asked %q: %s", len(r.Params), w.kinds(), r)
	}
	inOrder(t, r.SQL, "@p1, @p2, @p3, @p4;", "EXEC", "EXEC", "@p5, @p6, @p7, @p8;", "COMMIT TRANSACTION")
}

// D-3: an error of a later call fails the whole Do. It is the server's answer, so that
// nothing is unknown.
func TestErrorOfALaterCall(t *testing.T) {
	a := tdstest.Failed(8134, "Divide by zero error encountered.")
	a.Results = []tdstest.Result{tdstest.Rows(changed, []any{1})}
	w := onWire(t, always(a))
	var e *engine.Error
	if err := w.do(extend(), engine.Ask(op.JobDefer{})); !errors.As(err, &e) || e.Class != nil {
		t.Errorf("%v", err)
	}
}

// What a call answers is read to its end: else the driver cancels the rest, at the price
// of a round trip.
func TestNothingIsCancelledBehindTheCommit(t *testing.T) {
	rest := changes(1)
	for range 50 {
		rest.Results = append(rest.Results, tdstest.Counted(0))
	}
	w := onWire(t, always(rest))
	for range 20 {
		enginetest.Must(t, w.do(extend()))
	}
	if n := w.server.Cancellations(); n != 0 {
		t.Errorf("%d cancellations", n)
	}
}

// Claims say whether the database reads row versions: hints depend on it. What a
// connection was told is noticed to have changed by error 650.
func TestClaimsKnowRowVersions(t *testing.T) {
	var refusals int
	for _, is := range []bool{false, true} {
		var option []func(*wireOptions)
		if is {
			option = append(option, versioned)
		}
		w := onWire(t, always(tdstest.Answered(tdstest.Rows(claimColumns()), committed)), option...)
		var got []op.OutboxClaimed
		claim := enginetest.Claim(token, time.Minute, 10, &got)
		enginetest.Must(t, w.do(claim))
		if sent := versionedOf(t, w); sent != is {
			t.Errorf("a claim with versioned %v, want %v", sent, is)
		}
		w.now(func(*tdstest.Request) tdstest.Answer {
			if refusals++; refusals%2 == 1 {
				return tdstest.Failed(650, "You can only specify the READPAST lock in the READ COMMITTED or REPEATABLE READ isolation levels.")
			}
			return tdstest.Answered(tdstest.Rows(claimColumns()), committed)
		})
		enginetest.Must(t, w.do(claim))
		if sent := versionedOf(t, w); sent == is {
			t.Errorf("the repeated claim has versioned %v", sent)
		}
	}
}

// claimColumns are those of a claim's answer.
func claimColumns() []tdstest.Column { return []tdstest.Column{{Name: "id", Type: tdstest.BigInt}} }

// versionedOf is the parameter of the last claim that says whether rows are read by version.
func versionedOf(t testing.TB, w *wire) bool {
	t.Helper()
	all := w.requests()
	r := all[len(all)-1]
	for _, p := range r.Params {
		if p.Type == tdstest.Bit {
			return p.Value.(bool)
		}
	}
	t.Fatalf("no parameter says so: %s", r)
	return false
}

// D-4: cancelled before anything was sent, nothing is.
func TestCancelledBeforeOnTheWire(t *testing.T) {
	w := onWire(t, always(changes(1)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Do(ctx, extend()); !errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrCommitUnknown) {
		t.Error(err)
	}
	if len(w.requests()) != 0 {
		t.Errorf("asked %q", w.kinds())
	}
}

// D-440: what a call measures from its Reset, such as when a lease ends, begins before the call is
// sent.
func TestResetComesBeforeTheCallIsSent(t *testing.T) {
	var reset, sent atomic.Bool
	w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
		sent.Store(reset.Load())
		return always(changes(1))(r)
	})
	call := extend()
	call.Reset = func() { reset.Store(true) }
	enginetest.Must(t, w.do(call))
	if !sent.Load() {
		t.Error("the call was sent before its Reset")
	}
}
