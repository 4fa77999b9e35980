package admin_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// fan starts a join of messages that need n steps.
func (f *explainFixture) fan(s join.Spec, n int) join.Fan {
	f.t.Helper()
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "step"}
	}
	fan, err := f.Joins.FanOut(f.ctx(), s, msgs, join.Wait{OnComplete: outbox.Message{Topic: "all done"}, Queue: "waits"})
	f.check(err)
	return fan
}

func TestExplainMessageWaitOfAJoin(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		fan := f.fan(join.Spec{}, 2)
		// As a worker parks it: until the join is over.
		f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET at = " + f.instant(f.now().Add(24*time.Hour)) + " WHERE lo = " + f.position(fan.Wait))
		x := f.explain(fan.Wait.String(), "awaits_join", "no_worker")
		f.says(x, "when that is over, or at")
		f.because(x, "join join_waiting")
		if len(x.Causes[0].Causes) > 0 {
			t.Error("it explains the whole join")
		}
	})
}

func TestExplainJoinWaiting(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		fan := f.fan(join.Spec{GroupingKey: "g"}, 3)
		owner, msgs := f.claim(leaseTime)
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
		f.settled(f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, failure()), msgs[1].Position))
		x := f.explain(fan.Join.String(), "join_waiting")
		f.says(x, "It waits for 2 of 3 steps: 1 of 3 steps completed and 0 failed so far.")
		f.fact(x, "pending_members", "2")
		f.fact(x, "group", "g")
		f.because(x, "message retry", "message leased")
		if x.Causes[0].ID != msgs[1].ID.String() {
			t.Errorf("it waits for %s, want %s", x.Causes[0].ID, msgs[1].ID)
		}
	})
}

func TestExplainJoinBounded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		fan := f.fan(join.Spec{ExpectedSteps: 30}, 25)
		x := f.explain(fan.Join.String(), "join_waiting")
		f.fact(x, "pending_members", "more than 10")
		if len(x.Causes) != 10 {
			t.Errorf("%d members are explained, want 10", len(x.Causes))
		}
	})
}

func TestExplainJoinUnattached(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		fan := f.fan(join.Spec{ExpectedSteps: 3}, 2)
		owner, msgs := f.claim(leaseTime)
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
		f.because(f.explain(fan.Join.String(), "join_waiting", "join_unattached"), "message leased")
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, msgs[1].Position))
		x := f.explain(fan.Join.String(), "join_unattached")
		f.says(x, "1 step is still expected")
		f.because(x)
	})
}

func TestExplainJoinOverdue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		fan := f.fan(join.Spec{Deadline: f.now().Add(time.Hour)}, 1)
		f.explain(fan.Join.String(), "join_waiting")
		f.exec("UPDATE " + f.db.Table("outbox_join") + " SET deadline_utc = " + f.instant(f.now().Add(-time.Hour)))
		x := f.explain(fan.Join.String(), "join_overdue", "join_waiting")
		f.says(x, "Its deadline passed at")
		if len(x.Causes) > 0 && len(x.Causes[0].Causes) > 0 {
			t.Error("a join explains its wait, and that the join")
		}
		// The wait that pawl adds to see to the deadline, the program's own, the member.
		f.because(x, "message awaits_join", "message no_worker", "message no_worker")
		if x.Causes[1].ID != fan.Wait.String() || x.Causes[2].ID != fan.Messages[0].String() {
			t.Errorf("because of %s and %s, want its wait %s and its member %s", x.Causes[1].ID, x.Causes[2].ID, fan.Wait, fan.Messages[0])
		}
	})
}

func TestExplainJoinWaitPending(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		fan := f.fan(join.Spec{}, 1)
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, at))
		x := f.explain(fan.Join.String(), "join_wait_pending")
		f.says(x, "It completed at", "a wait of it was not handled", `No live worker serves queue "waits"`)
		f.next(x, `start a worker that serves queue "waits"`)
		f.because(x, "message no_worker")
		if x.Causes[0].ID != fan.Wait.String() {
			t.Errorf("because of %s, want %s", x.Causes[0].ID, fan.Wait)
		}
		wait := outbox.NewOwnerToken()
		msgs, err := f.Outbox.WorkQueue("waits").Claim(f.ctx(), wait, leaseTime, 1)
		f.check(err)
		f.settled(f.Outbox.WorkQueue("").Fail(f.ctx(), wait, failure(), msgs[0].Position))
		f.because(f.explain(fan.Join.String(), "join_wait_pending"), "message failed")
		_, err = f.Outbox.Redrive(f.ctx(), outbox.FailedFilter{})
		f.check(err)
		msgs, err = f.Outbox.WorkQueue("waits").Claim(f.ctx(), wait, leaseTime, 1)
		f.check(err)
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), wait, msgs[0].Position))
		f.because(f.explain(fan.Join.String(), "join_completed"))
	})
}

func TestExplainJoinOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id, err := f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 1})
		f.check(err)
		m := f.enqueue(outbox.Message{})
		f.check(f.Joins.Attach(f.ctx(), id, m))
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Fail(f.ctx(), owner, failure(), at))
		f.says(f.explain(id.String(), "join_failed"), "0 of 1 step completed and 1 failed.")
		id, err = f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 2})
		f.check(err)
		_, err = f.Joins.Cancel(f.ctx(), id)
		f.check(err)
		f.explain(id.String(), "join_cancelled")
	})
}
