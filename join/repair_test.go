package join_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// The clean-up puts right what can only be wrong because of a bug, or because
// somebody changed a table by hand.

// broken is a fixture with what its clean-up told.
type broken struct {
	*fixture
	log  bytes.Buffer
	told repaired
}

// repaired is what an observer was notified of.
type repaired struct{ joins, waits int64 }

func openBroken(t *testing.T, e dbtest.Engine) *broken {
	t.Helper()
	b := &broken{}
	db := e.Open(t)
	b.fixture = on(t, db, db.DB, join.Options{}, slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	b.Observe(&worker.Observer{JoinsRepaired: func(joins, waits int64) { b.told.joins += joins; b.told.waits += waits }})
	return b
}

// change changes a table behind pawl's back.
func (b *broken) change(table, what string) {
	b.t.Helper()
	_, err := b.db.SQL.ExecContext(b.ctx(), "UPDATE "+b.db.Table(table)+" SET "+what)
	b.check(err)
}

// park puts the waits aside until nobody wakes them.
func (b *broken) park() {
	b.t.Helper()
	never := "'9999-12-31 UTC'"
	if b.db.Engine() == "sqlite" {
		never = "253402300799000000"
	}
	b.change("outbox_ready", "at = "+never+" WHERE lo IN (SELECT id FROM "+b.db.Table("outbox_join_wait")+")")
}

// repairs cleans up and insists on what that repaired, and on a warning if it did.
func (b *broken) repairs(joins, waits int64) {
	b.t.Helper()
	b.told = repaired{}
	b.log.Reset()
	_, err := b.CleanUp(b.ctx())
	b.check(err)
	if want := (repaired{joins, waits}); b.told != want {
		b.t.Fatalf("repaired %+v, want %+v; log: %s", b.told, want, b.log.String())
	}
	if lines := int64(strings.Count(b.log.String(), "level=WARN")); lines != joins+waits {
		b.t.Fatalf("%d warnings, want %d: %s", lines, joins+waits, b.log.String())
	}
}

// D-30: counters become what the members say, once, with a line about it.
func TestRepairCounters(t *testing.T) { dbtest.Each(t, testRepairCounters) }

func testRepairCounters(t *testing.T, e dbtest.Engine) {
	b := openBroken(t, e)
	id, msgs := b.members(3)
	owner, items := b.claim(3)
	b.ack(owner, items[msgs[0]])
	b.fail(owner, items[msgs[1]])
	b.repairs(0, 0)
	b.change("outbox_join", "completed_steps = 0")
	b.repairs(1, 0)
	if !strings.Contains(b.log.String(), id.String()) {
		t.Errorf("the warning does not name the join: %s", b.log.String())
	}
	b.progress(id, 1, 1, join.Pending)
	b.repairs(0, 0)
	b.ack(owner, items[msgs[2]])
	b.progress(id, 2, 1, join.Failed)
	b.change("outbox_join", "failed_steps = 0")
	b.repairs(1, 0)
	b.progress(id, 2, 1, join.Failed)
}

// D-30, D-33: steps that were lost count after all, and the wait fires.
func TestRepairSteps(t *testing.T) { dbtest.Each(t, testRepairSteps) }

func testRepairSteps(t *testing.T, e dbtest.Engine) {
	b := openBroken(t, e)
	id, msgs := b.members(3)
	b.wait(id)
	owner, items := b.claim(4)
	b.ack(owner, items[msgs[0]], items[msgs[1]])
	b.fail(owner, items[msgs[2]])
	b.change("outbox_join", "completed_steps = 1, failed_steps = 0, status = 0")
	b.change("outbox_join_member", "status = 0 WHERE id <> "+fmt.Sprint(items[msgs[0]]))
	b.expireAll()
	b.drain(nil)
	b.sent("failed", 0)
	b.repairs(1, 0)
	b.progress(id, 2, 1, join.Failed)
	b.drain(nil)
	b.sent("failed", 1)
	b.repairs(0, 0)
}

// D-30, D-39: a join of more members than are usually counted is repaired as well.
func TestRepairLargeJoins(t *testing.T) { dbtest.Each(t, testRepairLargeJoins) }

func testRepairLargeJoins(t *testing.T, e dbtest.Engine) {
	b := openBroken(t, e)
	const n = 10_100
	fan, err := b.FanOut(b.ctx(), join.Spec{}, steps("step", n), join.Wait{})
	b.check(err)
	b.change("outbox_join", "completed_steps = 1")
	b.repairs(1, 0)
	j, err := b.Get(b.ctx(), fan.Join)
	b.check(err)
	if j.CompletedSteps != 0 {
		t.Errorf("%+v", j)
	}
}

// D-33: the wait of a join that is over is due, and that of another stays parked.
func TestRepairWakesParked(t *testing.T) { dbtest.Each(t, testRepairWakesParked) }

func testRepairWakesParked(t *testing.T, e dbtest.Engine) {
	b := openBroken(t, e)
	over, msgs := b.members(1)
	b.wait(over)
	pending := b.start(1)
	still := b.wait(pending)
	owner, items := b.claim(1)
	b.ack(owner, items[msgs[0]])
	b.park()
	b.drain(nil)
	b.sent("done", 0)
	b.repairs(0, 1)
	if !strings.Contains(b.log.String(), over.String()) {
		t.Errorf("the warning does not name the join: %s", b.log.String())
	}
	b.drain(nil)
	b.sent("done", 1)
	b.repairs(0, 0)
	if got := b.find(still); got.Status != outbox.Ready || got.NextAttemptAt.Year() != 9999 {
		t.Errorf("the other wait is %v, due %v", got.Status, got.NextAttemptAt)
	}
}

// A round is bounded, and the next goes on where it ended.
func TestRepairInRounds(t *testing.T) { dbtest.Each(t, testRepairInRounds) }

func testRepairInRounds(t *testing.T, e dbtest.Engine) {
	b := openBroken(t, e)
	const more = 1010 // than a round looks at
	tx := b.db.Begin(t)
	var oldest, newest join.ID
	for i := range more {
		id, err := b.StartTx(b.ctx(), tx, join.Spec{ExpectedSteps: 2})
		b.check(err)
		if newest = id; i == 0 {
			oldest = id
		}
	}
	b.check(tx.Commit())
	spoil := func(id join.ID) {
		value := "'" + id.String() + "'"
		if e.Name == "sqlite" {
			value = "x'" + strings.ReplaceAll(id.String(), "-", "") + "'"
		}
		b.change("outbox_join", "completed_steps = 1 WHERE join_id = "+value)
	}
	spoil(oldest)
	spoil(newest)
	b.repairs(1, 0)
	b.progress(newest, 0, 0, join.Pending)
	b.repairs(1, 0)
	b.progress(oldest, 0, 0, join.Pending)
	spoil(newest)
	b.repairs(1, 0)
}

// Counters that no member can explain are said, and left alone.
func TestRepairLeavesTheInexplicable(t *testing.T) { dbtest.Each(t, testRepairLeavesTheInexplicable) }

func testRepairLeavesTheInexplicable(t *testing.T, e dbtest.Engine) {
	b := openBroken(t, e)
	id, msgs := b.members(2)
	owner, items := b.claim(2)
	b.ack(owner, items[msgs[0]])
	b.change("outbox_join", "expected_steps = 1, completed_steps = 0")
	b.change("outbox_join_member", "status = 1")
	_, err := b.CleanUp(b.ctx())
	b.check(err)
	if b.told != (repaired{}) || !strings.Contains(b.log.String(), id.String()) {
		t.Errorf("repaired %+v; log: %s", b.told, b.log.String())
	}
	j, err := b.Get(b.ctx(), id)
	b.check(err)
	if j.CompletedSteps != 0 || j.Status != join.Pending {
		t.Errorf("%+v", j)
	}
}
