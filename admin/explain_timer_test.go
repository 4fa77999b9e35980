package admin_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

func (f *explainFixture) schedule(tm timer.Timer) timer.ID {
	f.t.Helper()
	tm.Topic = "t"
	id, err := f.Timers.Schedule(f.ctx(), tm)
	f.check(err)
	return id
}

func TestExplainTimerPending(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.schedule(timer.Timer{Key: "order-17", Due: f.now().Add(time.Hour)})
		x := f.explain(id.String(), "timer_pending", "no_scheduler", "no_worker")
		f.says(x, "It fires at", "(in 59m")
		f.fact(x, "key", "order-17")
		f.worker("w", "default", "t")
		if x := f.explain("order-17", "timer_pending"); x.ID != id.String() {
			t.Errorf("the key names %s, want %s", x.ID, id)
		}
		f.pause(admin.Topic, "t", "")
		f.explain("order-17", "timer_pending", "topic_paused")
	})
}

func TestExplainTimerDue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.schedule(timer.Timer{Due: f.now().Add(-time.Hour)})
		x := f.explain(id.String(), "no_scheduler", "no_worker")
		f.says(x, "due since", "(1h ago)")
		f.next(x, "start a worker, of whatever queue")
		f.worker("w", "elsewhere")
		f.explain(id.String(), "timer_due", "no_worker")
		f.worker("v", "default", "t")
		f.explain(id.String(), "timer_due")
		// Who fires timers by itself may have failed to.
		owner := outbox.NewOwnerToken()
		_, err := f.Timers.WorkQueue().Claim(f.ctx(), owner, leaseTime, 1)
		f.check(err)
		f.settled(f.Timers.WorkQueue().Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, failure()), id))
		f.says(f.explain(id.String(), "timer_pending"), "attempt 1 failed: no such customer.")
	})
}

func TestExplainTimerClaimed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.schedule(timer.Timer{Due: f.now().Add(-time.Hour)})
		owner := outbox.NewOwnerToken()
		_, err := f.Timers.WorkQueue().Claim(f.ctx(), owner, leaseTime, 1)
		f.check(err)
		f.says(f.explain(id.String(), "timer_claimed"), "A program that claims by itself (token "+owner.String()+") is firing it")
		f.pass(0)
		past := "0"
		if e.Name != "sqlite" {
			past = "'2000-01-01'"
		}
		f.exec("UPDATE " + f.db.Table("timer") + " SET locked_until = " + past)
		f.next(f.explain(id.String(), "timer_claim_expired"), "")
		f.crash("w")
		f.next(f.explain(id.String(), "timer_claim_expired", "no_worker"), "start a worker, of whatever queue, or the program that fires timers")
	})
}

func (f *explainFixture) fire() {
	f.t.Helper()
	n, err := f.Internal(access.Key{}).Sources()[1].Dispatch(f.ctx())
	f.check(err)
	if n != 1 {
		f.t.Fatalf("fired %d timers, want 1", n)
	}
}

// A fired timer is its message: that is said once, and asked for by its kind it is
// explained alone.
func TestExplainTimerFired(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.schedule(timer.Timer{Key: "k", Due: f.now().Add(-time.Hour)})
		f.fire()
		x := f.explain(id.String(), "timer_fired")
		f.because(x, "message no_worker")
		f.says(x, "It fired at", `No live worker serves queue "default"`)
		f.next(x, `start a worker that serves queue "default"`)
		if len(x.AlsoMatches) > 0 {
			t.Errorf("said twice: %+v", x.AlsoMatches[0])
		}
		m, err := f.Admin.Explain(f.ctx(), id.String(), "message")
		f.check(err)
		f.reasons(m, "no_worker")
		if m.Kind != "message" {
			t.Errorf("explained a %s", m.Kind)
		}
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, at))
		f.because(f.explain(id.String(), "timer_fired"), "message done")
	})
}

func TestExplainTimerOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.schedule(timer.Timer{Due: f.now().Add(-time.Hour)})
		owner := outbox.NewOwnerToken()
		_, err := f.Timers.WorkQueue().Claim(f.ctx(), owner, leaseTime, 1)
		f.check(err)
		f.settled(f.Timers.WorkQueue().Ack(f.ctx(), owner, id))
		f.because(f.explain(id.String(), "timer_over"))
	})
}

func TestExplainTimerCancelled(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.schedule(timer.Timer{Due: f.now().Add(time.Hour)})
		_, err := f.Timers.Cancel(f.ctx(), id)
		f.check(err)
		f.says(f.explain(id.String(), "timer_cancelled"), "ago)")
	})
}
