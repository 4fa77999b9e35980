package admin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// What timers and jobs make of a paused topic waits like any other message.
func TestPausedTimersAndJobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{StopWhenEmpty: true})
		count := newTally()
		f.Handle("p", count.Handle)
		f.pause(admin.Topic, "p")
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "daily", Topic: "p", Schedule: "0 0 29 2 *"}))
		_, err := f.Jobs.Trigger(f.ctx(), "daily")
		f.check(err)
		_, err = f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "p", Due: time.Now().Add(-time.Minute)})
		f.check(err)
		f.check(f.Run(f.ctx()))
		count.once(t, 0)
		f.wantParked(2)
		f.counts(outbox.Counts{Ready: 2})
		again := on(t, f.db, f.db.DB, pawl.Options{StopWhenEmpty: true})
		again.Handle("p", count.Handle)
		f.resume(admin.Topic, "p")
		f.check(again.Run(f.ctx()))
		count.once(t, 2)
		f.counts(outbox.Counts{Done: 2})
	})
}

// Steps of joins that are parked are pending, and counted once they are over;
// a step that is cancelled there has failed.
func TestPausedMembers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		id, err := f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 3})
		f.check(err)
		f.pause(admin.Topic, "p")
		ids := f.mixed(3, "p")["p"]
		var steps []outbox.MessageID
		for _, one := range ids {
			steps = append(steps, f.get(one).ID)
		}
		f.check(f.Joins.Attach(f.ctx(), id, steps[0]))
		f.drain(done)
		f.wantParked(3)
		f.check(f.Joins.Attach(f.ctx(), id, steps[1:]...)) // where they lie
		state := func(completed, failed int) {
			t.Helper()
			j, err := f.Joins.Get(f.ctx(), id)
			f.check(err)
			if j.CompletedSteps != completed || j.FailedSteps != failed {
				t.Fatalf("the join has %d completed and %d failed steps, want %d and %d", j.CompletedSteps, j.FailedSteps, completed, failed)
			}
		}
		state(0, 0)
		if n, err := f.Outbox.Cancel(f.ctx(), "not needed", ids[1]); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		state(0, 1)
		f.wantParked(2)
		f.resume(admin.Topic, "p")
		f.drain(done)
		state(2, 1)
	})
}

// Cancelling a parked message leaves the others parked.
func TestCancelParked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.parkRun(9)
		if n, err := f.Outbox.Cancel(f.ctx(), "why", ids[4], ids[0], ids[4], 1<<40); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		f.wantParked(7)
		f.status(outbox.Discarded, ids[0], ids[4])
		f.status(outbox.Ready, ids[1], ids[3], ids[5], ids[8])
		f.db.CheckPlaces(t)
		f.drain(done)
		f.counts(outbox.Counts{Ready: 7, Discarded: 2})
		f.resume(admin.Topic, "p")
		f.all(7)
	})
}

// A parked message stays parked when it is rescheduled, and comes
// back for that time.
func TestRescheduleParked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.parkRun(9)
		later := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
		if n, err := f.Outbox.Reschedule(f.ctx(), later, ids[4], ids[8]); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		f.wantParked(9)
		f.counts(outbox.Counts{Ready: 7, Scheduled: 2})
		f.resume(admin.Topic, "p")
		f.all(7)
		if got := f.get(ids[4]); !got.NextAttemptAt.Equal(later) || got.Status != outbox.Ready {
			t.Fatalf("it is %+v", got)
		}
		if n, err := f.Outbox.Reschedule(f.ctx(), time.Time{}, ids[4], ids[8]); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		f.all(2)
	})
}

// D-329: messages that somebody deleted from the table hold up no others of their topic, neither of their run
// nor behind it, and the pause ends.
func TestResumeWithoutMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		gone := f.parkRun(9)
		f.mixed(1, "q") // or they were one run
		some := f.mixed(9, "p")["p"]
		f.drain(done)
		f.wantParked(18)
		_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf("DELETE FROM %s WHERE id BETWEEN %d AND %d", f.db.Table("outbox_message"), gone[0], some[3]))
		f.check(err)
		f.resume(admin.Topic, "p")
		f.back(5)
	})
}

// A message that is redriven waits for the end of its topic's pause.
func TestRedrivePaused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mixed(4, "p")
		owner, msgs := f.claim(time.Minute, 4)
		for _, m := range msgs {
			_, err := f.Outbox.WorkQueue("").Fail(f.ctx(), owner, errors.New("no"), m.Position)
			f.check(err)
		}
		f.pause(admin.Topic, "p")
		if b, err := f.Outbox.Redrive(f.ctx(), outbox.FailedFilter{Topic: "p"}); err != nil || b.Changed != 4 {
			t.Fatal(b.Changed, err)
		}
		f.drain(done)
		f.wantParked(4)
		f.resume(admin.Topic, "p")
		f.all(4)
	})
}

// The inbox's workers obey as well: its messages are the outbox's.
func TestPausedInbox(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{StopWhenEmpty: true})
		handled := 0
		handle := func(f *fixture) {
			f.HandleInbox("p", func(context.Context, *inbox.Message) error { handled++; return nil })
		}
		handle(f)
		f.pause(admin.Topic, "p")
		added, err := f.Inbox.Enqueue(f.ctx(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: "1"}, Topic: "p"})
		if err != nil || !added {
			t.Fatal(added, err)
		}
		f.check(f.Run(f.ctx()))
		f.wantParked(1)
		if n := len(f.seen.Attempts("p")); n != 1 || handled != 0 {
			t.Fatalf("%d attempts, %d handled", n, handled)
		}
		f.resume(admin.Topic, "p")
		again := on(t, f.db, f.db.DB, pawl.Options{StopWhenEmpty: true})
		handle(again)
		f.check(again.Run(f.ctx()))
		if handled != 1 {
			t.Fatalf("handled %d times", handled)
		}
	})
}

// A message that is cancelled is a failed step of its joins, wherever it waited,
// and the join goes on to its end; redriving does not bring it back.
func TestCancelledSteps(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		id, err := f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 4})
		f.check(err)
		ids := f.mixed(4, "p")["p"]
		for _, one := range ids {
			f.check(f.Joins.Attach(f.ctx(), id, f.get(one).ID))
		}
		state := func(completed, failed int) *join.Info {
			t.Helper()
			j, err := f.Joins.Get(f.ctx(), id)
			f.check(err)
			if j.CompletedSteps != completed || j.FailedSteps != failed {
				t.Fatalf("the join has %d completed and %d failed steps, want %d and %d", j.CompletedSteps, j.FailedSteps, completed, failed)
			}
			return j
		}
		_, err = f.Outbox.Reschedule(f.ctx(), time.Now().Add(time.Hour), ids[1])
		f.check(err)
		n, err := f.Outbox.Cancel(f.ctx(), "why", ids[0], ids[1], ids[0])
		if n != 2 || err != nil {
			t.Fatal(n, err)
		}
		state(0, 2)
		if n, err := f.Outbox.Cancel(f.ctx(), "again", ids[:2]...); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if b, err := f.Outbox.Redrive(f.ctx(), outbox.FailedFilter{}); b.Changed != 0 || err != nil {
			t.Fatal(b.Changed, err)
		}
		state(0, 2)
		f.drain(done)
		if j := state(2, 2); j.CompletedSteps+j.FailedSteps != j.ExpectedSteps || j.Status == join.Pending {
			t.Fatalf("the join is %+v", j)
		}
	})
}

// A job's run whose message is cancelled was cancelled, and the next is not held up.
func TestCancelledRuns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "daily", Topic: "p", Schedule: "0 0 29 2 *"}))
		id, err := f.Jobs.Trigger(f.ctx(), "daily")
		f.check(err)
		run, err := f.Jobs.GetRun(f.ctx(), id)
		f.check(err)
		later := time.Now().Add(time.Hour)
		if n, err := f.Outbox.Reschedule(f.ctx(), later, run.Position); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if run, err = f.Jobs.GetRun(f.ctx(), id); err != nil || run.Status != job.Pending {
			t.Fatalf("%+v, %v", run, err)
		}
		if n, err := f.Outbox.Cancel(f.ctx(), "not today", run.Position); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if run, err = f.Jobs.GetRun(f.ctx(), id); err != nil || run.Status != job.Cancelled || run.LastError != "not today" || run.EndedAt.IsZero() {
			t.Fatalf("%+v, %v", run, err)
		}
		_, err = f.Jobs.Trigger(f.ctx(), "daily")
		f.check(err)
		count := newTally()
		f.drain(count.Handle)
		count.once(t, 1)
	})
}

// Timers carry the stamp of who scheduled them; the runs of a job are nobody's.
func TestStampedTimers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.AddHeaders(func(context.Context, *outbox.Message) map[string]string { return map[string]string{"trace": "42"} })
		own := map[string]string{"k": "v"}
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "daily", Topic: "q", Schedule: "0 0 29 2 *", Headers: own}))
		_, err := f.Jobs.Trigger(f.ctx(), "daily")
		f.check(err)
		_, err = f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "p", Due: time.Now().Add(-time.Minute), Headers: own})
		f.check(err)
		_, err = f.Inbox.Enqueue(f.ctx(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: "1"}, Topic: "u", Headers: own})
		f.check(err)
		_, err = f.Internal(access.Key{}).Sources()[1].Dispatch(f.ctx())
		f.check(err)
		got := map[string]string{}
		list, err := engine.Collect(f.Outbox.List(f.ctx(), outbox.ListOptions{}), 100)
		f.check(err)
		for _, info := range list {
			got[info.Topic] = info.Headers["k"] + info.Headers["trace"]
		}
		if len(got) != 3 || got["p"] != "v42" || got["q"] != "v" || got["u"] != "v42" || len(own) != 1 {
			t.Fatalf("messages carry %v", got)
		}
	})
}
