package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Each outcome is counted under its queue and topic, and what ran is measured.
func TestOutcomes(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		o := stopWhenEmpty()
		o.Retry = &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}
		f := open(t, e, o, metrics.Options{})
		f.Handle("ok", nothing)
		f.Handle("permanent", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) })
		f.Handle("twice", func(context.Context, *outbox.Message) error { return errors.New("no") })
		f.Handle("snoozes", func(context.Context, *outbox.Message) error { return outbox.Snooze(time.Hour) })
		f.Handle("settles", func(ctx context.Context, m *outbox.Message) error {
			_, err := f.Outbox.WorkQueue("").Ack(ctx, m.Owner, m.Position)
			return errors.Join(err, worker.ErrSettled)
		})
		f.HandleInbox("in", func(context.Context, *inbox.Message) error { return nil })
		f.enqueue(append(many(3, outbox.Message{Topic: "ok"}), outbox.Message{Topic: "permanent"}, outbox.Message{Topic: "twice"},
			outbox.Message{Topic: "snoozes"}, outbox.Message{Topic: "settles"}, outbox.Message{Topic: "nobody"})...)
		_, err := f.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: "1"}, Topic: "in"})
		check(t, err)
		f.drain()
		got := f.gather()
		got.has(t, series{
			`pawl_messages_enqueued_total{queue="default",topic="ok"}`:                 3,
			`pawl_messages_enqueued_total{queue="inbox",topic="in"}`:                   1,
			`pawl_messages_claimed_total{queue="inbox"}`:                               1,
			`pawl_attempts_total{outcome="acked",queue="default",topic="ok"}`:          3,
			`pawl_attempts_total{outcome="failed",queue="default",topic="ok"}`:         0,
			`pawl_attempts_total{outcome="failed",queue="default",topic="permanent"}`:  1,
			`pawl_attempts_total{outcome="retried",queue="default",topic="permanent"}`: 0,
			`pawl_attempts_total{outcome="retried",queue="default",topic="twice"}`:     1,
			`pawl_attempts_total{outcome="failed",queue="default",topic="twice"}`:      1,
			`pawl_attempts_total{outcome="snoozed",queue="default",topic="snoozes"}`:   1,
			`pawl_attempts_total{outcome="settled",queue="default",topic="settles"}`:   1,
			`pawl_attempts_total{outcome="acked",queue="inbox",topic="in"}`:            1,
			`pawl_handler_duration_seconds{topic="ok"}`:                                3,
			`pawl_queue_wait_seconds{topic="ok"}`:                                      3,
			`pawl_handler_duration_seconds{topic="twice"}`:                             2,
			`pawl_queue_wait_seconds{topic="twice"}`:                                   1, // the first attempt's
			`pawl_handler_duration_seconds{topic="nobody"}`:                            0, // none ran
			`pawl_messages{queue="default",state="failed",topic="permanent"}`:          1,
			`pawl_schedule_lateness_seconds{kind="message"}`:                           0,
		})
		if n := got[`pawl_attempts_total{outcome="unhandled",queue="default",topic="nobody"}`]; n < 1 {
			t.Errorf("a message without handler was counted %v times as unhandled", n)
		}
	})
}

// What a worker puts back when it stops or when a topic is paused is counted, and
// what crashed workers and thieves take.
func TestOutcomesOfClaims(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		// The lease is as long as a stall of the machine may be; a theft shows after a third of it.
		f := open(t, e, pawl.Options{Lease: 6 * time.Second, Grace: time.Millisecond}, metrics.Options{})
		begun := make(chan string, 10)
		wait := func(ctx context.Context, m *outbox.Message) error {
			begun <- m.Topic
			<-ctx.Done()
			return ctx.Err()
		}
		f.Handle("stolen", wait)
		f.Handle("waits", wait)
		f.Handle("paused", nothing)
		f.Handle("crashed", nothing)
		f.enqueue(outbox.Message{Topic: "crashed"})
		msgs, err := f.Outbox.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), time.Millisecond, 1)
		check(t, err)
		if len(msgs) != 1 {
			t.Fatalf("claimed %d messages", len(msgs))
		}
		_, err = f.Admin.Pause(t.Context(), admin.Topic, "paused", "")
		check(t, err)
		f.enqueue(outbox.Message{Topic: "stolen"})
		stop := f.run()
		if topic := <-begun; topic != "stolen" {
			t.Fatalf("%s began", topic)
		}
		thief := outbox.NewOwnerToken()
		switch e.Name {
		case "sqlite":
			f.exec("UPDATE outbox_claim SET owner = ?", thief[:])
		case "sqlserver":
			f.exec("UPDATE "+f.db.Table("outbox_claim")+" SET owner = @p1", thief.String())
		default:
			f.exec("UPDATE "+f.db.Table("outbox_claim")+" SET owner = $1", thief.String())
		}
		f.until(`pawl_attempts_total{outcome="lost",queue="default",topic="stolen"}`, 1)
		f.enqueue(outbox.Message{Topic: "paused"})
		f.until(`pawl_attempts_total{outcome="paused",queue="default",topic="paused"}`, 1)
		f.until(`pawl_attempts_total{outcome="acked",queue="default",topic="crashed"}`, 1)
		f.until(`pawl_messages_reaped_total{queue="default"}`, 1)
		f.enqueue(outbox.Message{Topic: "waits"})
		for topic := range begun {
			if topic == "waits" {
				break // the stolen one may have come back
			}
		}
		f.until(`pawl_workers`, 1)
		f.until(`pawl_messages_held`, 1)
		f.until(`pawl_messages{queue="default",state="paused",topic="paused"}`, 1) // it is counted before it is put there
		f.gather().has(t, series{
			`pawl_loop_running{loop="queue default"}`: 1, `pawl_loop_running{loop="scheduler"}`: 1,
			`pawl_messages{queue="default",state="in_flight",topic="waits"}`: 1,
			`pawl_messages{queue="default",state="paused",topic="paused"}`:   1,
			`pawl_pauses{kind="topic"}`:                                      1, `pawl_pauses{kind="queue"}`: 0,
		})
		stop()
		f.gather().has(t, series{
			`pawl_attempts_total{outcome="released",queue="default",topic="waits"}`: 1,
			`pawl_loop_running{loop="queue default"}`:                               0,
			`pawl_loop_overdue_seconds{loop="queue default"}`:                       0,
			`pawl_workers`: 0,
		})
	})
}

// Timers and runs of jobs are counted, and how late they are.
func TestSchedules(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{})
		f.Handle("tick", nothing)
		f.Handle("report", nothing)
		_, err := f.Timers.Schedule(t.Context(), timer.Timer{Topic: "tick", Due: time.Now().Add(-time.Hour)})
		check(t, err)
		_, err = f.Timers.Schedule(t.Context(), timer.Timer{Topic: "tick", Due: time.Now().Add(time.Hour)})
		check(t, err)
		check(t, f.Jobs.Put(t.Context(), job.Job{Name: "nightly", Topic: "report", Schedule: "0 0 1 1 *"}))
		_, err = f.Jobs.Trigger(t.Context(), "nightly")
		check(t, err)
		f.gather().has(t, series{`pawl_timers{state="due"}`: 1, `pawl_timers{state="scheduled"}`: 1})
		f.drain()
		got := f.gather()
		got.has(t, series{
			`pawl_timers_fired_total`: 1, `pawl_timers{state="due"}`: 0, `pawl_timers{state="scheduled"}`: 1,
			`pawl_schedule_lateness_seconds{kind="message"}`: 1, `pawl_schedule_lateness_seconds{kind="job"}`: 1,
			`pawl_job_attempts_total{job_name="nightly",outcome="acked"}`: 1, `pawl_job_attempts_total{job_name="nightly",outcome="failed"}`: 0,
		})
		if late := sum(t, f.metrics, "pawl_schedule_lateness_seconds", "message"); late < 3600 {
			t.Errorf("a timer that was due an hour ago was %v s late", late)
		}
	})
}

// Runs are counted that a schedule makes.
func TestRunsOfJobs(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{}, metrics.Options{})
		f.Handle("report", nothing)
		check(t, f.Jobs.Put(t.Context(), job.Job{Name: "often", Topic: "report", Schedule: "* * * * * *"}))
		f.run()
		f.until(`pawl_job_runs_total`, 1)
		f.until(`pawl_job_attempts_total{job_name="often",outcome="acked"}`, 1)
	})
}

// D-30: joins are counted that the clean-up had to repair.
func TestRepairedJoins(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{}, metrics.Options{})
		repaired := func(n float64) {
			t.Helper()
			_, err := f.Internal(access.Key{}).Components[3].Cleanup.Once(t.Context())
			check(t, err)
			f.gather().has(t, series{`pawl_joins_repaired_total{what="counters"}`: n, `pawl_joins_repaired_total{what="waits"}`: 0})
		}
		_, err := f.Joins.Start(t.Context(), join.Spec{ExpectedSteps: 2})
		check(t, err)
		repaired(0)
		_, err = f.db.SQL.ExecContext(t.Context(), "UPDATE "+f.db.Table("outbox_join")+" SET completed_steps = 1")
		check(t, err)
		repaired(1)
		repaired(1)
	})
}

// A lease is told of while it is held, when it is given back and when it is lost.
func TestLeases(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{}, metrics.Options{MaxLeases: 2})
		held, err := f.Leases.Acquire(t.Context(), "books", lease.Options{})
		check(t, err)
		f.gather().has(t, series{
			`pawl_lease_held{lease="books"}`: 1, `pawl_leases_acquired_total{lease="books"}`: 1, `pawl_leases_lost_total{lease="books"}`: 0,
			`pawl_lease_token{lease="books"}`: float64(held.Token()),
		})
		check(t, held.Close(t.Context()))
		f.gather().has(t, series{`pawl_lease_held{lease="books"}`: 0, `pawl_leases_lost_total{lease="books"}`: 0})
		held, err = f.Leases.Acquire(t.Context(), "books", lease.Options{})
		check(t, err)
		_, err = f.Leases.ForceRelease(t.Context(), "books")
		check(t, err)
		if err := held.Renew(t.Context()); !errors.Is(err, lease.ErrLost) {
			t.Fatalf("renewing what was taken away: %v", err)
		}
		check(t, held.Close(t.Context()))
		f.gather().has(t, series{`pawl_lease_held{lease="books"}`: 0, `pawl_leases_acquired_total{lease="books"}`: 2, `pawl_leases_lost_total{lease="books"}`: 1})
		for _, name := range []string{"b", "c", "d"} {
			l, err := f.Leases.Acquire(t.Context(), name, lease.Options{})
			check(t, err)
			t.Cleanup(func() { _ = l.Close(context.Background()) })
		}
		f.gather().has(t, series{`pawl_lease_held{lease="b"}`: 1, `pawl_lease_held{lease="_other"}`: 2})
	})
}

// Every metric that there is, is exported by a program that does a bit of everything.
func TestEverythingIsExported(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{}, metrics.Options{})
		f.Handle("report", nothing)
		f.Handle("broken", func(context.Context, *outbox.Message) error { return errors.New("broken") })
		_, err := f.Admin.SetLimit(t.Context(), admin.Topic, "report", outbox.Limit{Concurrency: 1}, "")
		check(t, err)
		check(t, f.Jobs.Put(t.Context(), job.Job{Name: "nightly", Topic: "report", Schedule: "0 0 1 1 *"}))
		_, err = f.Jobs.Trigger(t.Context(), "nightly")
		check(t, err)
		l, err := f.Leases.Acquire(t.Context(), "books", lease.Options{})
		check(t, err)
		defer l.Close(t.Context())
		steps := flow.New("steps", func(r *flow.Run, _ int) (int, error) {
			return flow.Step(r, "one", func(context.Context) (int, error) { return 1, nil })
		})
		steps.Handle(f.Pawl)
		_, err = steps.Start(t.Context(), f.Pawl, 1)
		check(t, err)
		stop := f.run()
		f.until(`pawl_job_attempts_total{job_name="nightly",outcome="acked"}`, 1)
		f.until(`pawl_flow_steps_total{outcome="done",topic="flow.steps"}`, 1)
		_, err = f.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "nobody"})
		check(t, err)
		f.enqueue(outbox.Message{Topic: "broken"})
		f.until(`pawl_attempts_total{outcome="unhandled",queue="default",topic="nobody"}`, 1)
		f.until(`pawl_attempts_total{outcome="retried",queue="default",topic="broken"}`, 1)
		stop()
		f.enqueue(outbox.Message{Topic: "later"})
		got := f.gather()
		for _, name := range metrics.Names(false) {
			if e.Name == "sqlite" && name == "pawl_connections_max" {
				continue // there is no limit
			}
			if len(got.of(name)) == 0 {
				t.Errorf("%s is not exported", name)
			}
		}
	})
}
