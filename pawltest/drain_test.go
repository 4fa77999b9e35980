package pawltest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/timer"
)

type opener = func(testing.TB, ...pawltest.Options) *pawltest.DB

// ok is a handler that does nothing.
// noReturn is in the error of a handler that ended its goroutine.
const noReturn = "handler ended its goroutine"

func ok() outbox.Handler {
	return func(context.Context, *outbox.Message) error { return nil }
}

// failing is a handler that returns an error.
func failing(err error) outbox.Handler {
	return func(context.Context, *outbox.Message) error { return err }
}

func drain(t testing.TB, d *pawltest.DB) *pawltest.Drained {
	t.Helper()
	r, err := d.Drain(t.Context())
	check(t, err)
	return r
}

// topics are what was handled, sorted: a handler may end after that of what it enqueued.
func topics(r *pawltest.Drained) string {
	var all []string
	for _, e := range r.Handled {
		all = append(all, e.Message.Topic)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// One drain handles what is due in all components, what handlers add to any of
// them included, and again in the next drain.
func TestDrainHandlesEverythingDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t, pawltest.Options{Pawl: pawl.Options{Queues: []string{outbox.DefaultQueue, "slow"}}})
		var chain atomic.Int64
		d.Handle("timer", func(ctx context.Context, _ *outbox.Message) error {
			_, err := d.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: fmt.Sprint(chain.Add(1))}, Topic: "inbound"})
			return err
		})
		d.HandleInbox("inbound", func(ctx context.Context, _ *inbox.Message) error {
			_, err := d.Outbox.Enqueue(ctx, outbox.Message{Topic: "slow", Queue: "slow"})
			return err
		})
		d.Handle("slow", func(ctx context.Context, _ *outbox.Message) error {
			_, err := d.Jobs.Trigger(ctx, "report")
			return err
		})
		d.Handle("report", func(ctx context.Context, _ *outbox.Message) error {
			_, err := d.Timers.Schedule(ctx, timer.Timer{Topic: "last", Due: time.Unix(1, 0)})
			return err
		})
		d.Handle("last", ok())
		check(t, d.Jobs.Put(t.Context(), job.Job{Name: "report", Topic: "report", Schedule: "0 0 1 1 *"}))
		for round := range 2 {
			_, err := d.Timers.Schedule(t.Context(), timer.Timer{Topic: "timer", Due: time.Unix(1, 0)})
			check(t, err)
			later, err := d.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "last", Due: time.Now().Add(time.Hour)})
			check(t, err)
			r := d.MustDrain(t)
			if got := topics(r); got != "inbound last report slow timer" || r.Timers != 2 {
				t.Errorf("round %d handled %s, fired %d timers", round, got, r.Timers)
			}
			if m, err := d.Outbox.Get(t.Context(), later); err != nil || m.Status != outbox.Ready {
				t.Errorf("what is due in an hour is %v, %v", m, err)
			}
		}
		if r := d.MustDrain(t); len(r.Handled) != 0 || r.Timers != 0 || r.Jobs != 0 {
			t.Errorf("there was nothing left, and yet %+v", r)
		}
	})
}

// Many messages, and many that handlers add, are all handled by one drain.
func TestDrainHandlesMany(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t)
		const n, depth = 1500, 20
		d.Handle("many", ok())
		d.Handle("deep", func(ctx context.Context, m *outbox.Message) error {
			if len(m.Payload) == depth {
				return nil
			}
			_, err := d.Outbox.Enqueue(ctx, outbox.Message{Topic: "deep", Payload: append(m.Payload, '.')})
			return err
		})
		msgs := make([]outbox.Message, n)
		for i := range msgs {
			msgs[i] = outbox.Message{Topic: "many"}
		}
		_, err := d.Outbox.EnqueueBatch(t.Context(), msgs)
		check(t, err)
		enqueue(t, d, "deep", "")
		if r := d.MustDrain(t); len(r.Handled) != n+depth+1 {
			t.Errorf("handled %d messages, want %d", len(r.Handled), n+depth+1)
		}
	})
}

// What was due long ago comes late: engines look first where they last found something.
func TestDrainFindsWhatLiesFarBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t)
		d.Handle("mail", ok())
		for n := range 2 {
			enqueue(t, d, "mail", "")
			d.MustDrain(t)
			_, err := d.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "mail", Due: time.Unix(1, 0)})
			check(t, err)
			if r := d.MustDrain(t); len(r.Handled) != 1 {
				t.Fatalf("round %d handled %v", n, r.Handled)
			}
		}
	})
}

// What handlers could not do is listed, without payloads, until it is dealt with.
func TestDrainTellsWhatIsLeft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t)
		errBusy := errors.New("mailbox busy")
		d.Handle("closed", failing(outbox.Permanent(errors.New("account closed"))))
		d.Handle("busy", failing(errBusy), outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return time.Hour }}}) // not again while this runs
		d.Handle("snoozed", failing(outbox.Snooze(time.Hour)))
		d.Handle("fine", ok())
		for _, topic := range []string{"closed", "busy", "snoozed", "fine", "nobodys"} {
			enqueue(t, d, topic, "secret")
		}
		_, err := d.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "fine", Due: d.Clock.Now().Add(time.Hour)})
		check(t, err)
		r := drain(t, d)
		if len(r.Handled) != 4 {
			t.Errorf("handled %s", topics(r))
		}
		for _, e := range r.Handled {
			if (e.Message.Topic == "fine") != (e.Err == nil) || e.Message.Topic == "busy" && !errors.Is(e.Err, errBusy) {
				t.Errorf("%s: %v", e.Message.Topic, e.Err)
			}
		}
		left := r.Err()
		if left == nil || len(r.Left) != 4 {
			t.Fatalf("left is %v", left)
		}
		for i, part := range []string{"closed", "busy", "snoozed", "nobodys"} {
			if m := r.Left[i]; m.Topic != part || !strings.Contains(left.Error(), part+" "+m.ID.String()+": ") {
				t.Errorf("%d is %s in\n%v", i, m.Topic, left)
			}
		}
		for _, part := range []string{"messages left: 4", ": failed for good: account closed", ": failed attempts: 1, the next at ", ": mailbox busy", ": put back until "} {
			if !strings.Contains(left.Error(), part) {
				t.Errorf("the error lacks %q: %v", part, left)
			}
		}
		if strings.Contains(left.Error(), "secret") {
			t.Errorf("the error tells payloads: %v", left)
		}
		fails(t, func(t testing.TB) { d.MustDrain(t) }, "messages left: 4")
		if b, err := d.Outbox.Discard(t.Context(), outbox.FailedFilter{}); b.Changed != 1 || err != nil {
			t.Fatal(b.Changed, err)
		}
		if r := drain(t, d); len(r.Left) != 3 || len(r.Handled) != 0 {
			t.Errorf("after it was discarded, left is %v", r.Err())
		}
	})
}

// A message of the inbox whose attempts are used up is left too.
func TestDrainTellsDeadMessagesOfTheInbox(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t, pawltest.Options{Pawl: pawl.Options{Inbox: inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 1}, Queue: "inbound"}}})
		d.HandleInbox("paid", func(context.Context, *inbox.Message) error { return errors.New("no such order") })
		_, err := d.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "bank", MessageID: "1"}, Topic: "paid"})
		check(t, err)
		fails(t, func(t testing.TB) { d.MustDrain(t) }, "messages left: 1", "paid", "failed for good: no such order", "\t\tmessage is dead")
	})
}

// A handler that panics, or calls t.Fatal in its goroutine, is an error; the drain
// goes on.
func TestHandlersThatDoNotReturn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t, pawltest.Options{Pawl: pawl.Options{Concurrency: 1}})
		text := failure(t, func(t testing.TB) {
			d.Handle("fatal", func(context.Context, *outbox.Message) error {
				t.Fatal("not what I expected")
				return nil
			})
			d.Handle("panics", func(context.Context, *outbox.Message) error { panic("oh") })
			for _, topic := range []string{"fatal", "panics", "fatal"} {
				enqueue(t, d, topic, "")
			}
			r := drain(t, d)
			if len(r.Handled) != 3 || len(r.Left) != 3 {
				t.Errorf("handled %s, left %v", topics(r), r.Err())
			}
			for _, e := range r.Handled {
				if (e.Message.Topic == "fatal") != (e.Err != nil && strings.Contains(e.Err.Error(), noReturn)) {
					t.Errorf("%s: %v", e.Message.Topic, e.Err)
				}
			}
			if err := r.Err(); !strings.Contains(err.Error(), "panic: oh") || !strings.Contains(err.Error(), noReturn) {
				t.Error(err)
			}
		})
		if text != "not what I expected\nnot what I expected\n" {
			t.Errorf("failed with %s", text)
		}
	})
}

// A drain that has no end ends with its context, and says so.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var again atomic.Int64
		d.Handle("again", func(context.Context, *outbox.Message) error {
			if again.Add(1) == 5 {
				cancel()
			}
			return errors.New("no")
		}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{Delay: func(int) time.Duration { return 0 }}})
		enqueue(t, d, "again", "")
		r, err := d.Drain(ctx)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "something was still due") || len(r.Handled) < 5 {
			t.Errorf("handled %d, %v", len(r.Handled), err)
		}
	})
}

// Mistakes that Run would report are reported, and so is a database that is gone.
func TestDrainFails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t)
		d.Handle("twice", ok())
		d.Handle("twice", ok())
		if _, err := d.Drain(t.Context()); err == nil || !strings.Contains(err.Error(), "duplicate handler") {
			t.Errorf("two handlers: %v", err)
		}
		want := "pawltest: drain: the database failed"
		if strings.HasSuffix(t.Name(), "/sqlserver") {
			want = "pawltest: drain:" // there firing timers needs it, too
		}
		fails(t, func(t testing.TB) {
			d := open(t, pawltest.Options{Prefix: "failing_"}) // no other test's
			table := "failing_outbox_ready"                    // what handling messages needs, and firing timers does not
			if postgres.Pool(d.DB()) != nil {
				check(t, postgres.Pool(d.DB()).QueryRow(t.Context(), "SELECT current_schema() || '_pawl.failing_outbox_claim'").Scan(&table))
			}
			rename := "ALTER TABLE " + table + " RENAME TO gone"
			if d.Internal(access.Key{}).DB.Engine() == "sqlserver" {
				check(t, d.SQL().QueryRowContext(t.Context(), "SELECT TOP (1) SCHEMA_NAME(schema_id) FROM sys.tables WHERE name = 'failing_outbox_ready' ORDER BY create_date DESC").Scan(&table))
				rename = "EXEC sp_rename '" + table + ".failing_outbox_ready', 'gone', 'OBJECT'"
			}
			_, err := d.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"}) // a claim of nothing needs less
			check(t, err)
			_, err = d.SQL().ExecContext(t.Context(), rename)
			check(t, err)
			d.MustDrain(t)
		}, want)
		fails(t, func(t testing.TB) {
			d := open(t)
			check(t, d.DB().Close())
			if postgres.Pool(d.DB()) != nil {
				check(t, d.SQL().Close())
				postgres.Pool(d.DB()).Close()
			}
			d.MustDrain(t)
		}, "pawltest: drain:")
	})
}

// Run may run as well: pawl's options are not bent for draining.
func TestRunBetweenDrains(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		d := open(t)
		handled := make(chan string, 10)
		d.Handle("mail", func(_ context.Context, m *outbox.Message) error {
			handled <- string(m.Payload)
			return nil
		})
		enqueue(t, d, "mail", "1")
		d.MustDrain(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx) }()
		enqueue(t, d, "mail", "2")
		for _, want := range []string{"1", "2"} {
			if got := <-handled; got != want {
				t.Errorf("handled %s, want %s", got, want)
			}
		}
		stop()
		check(t, <-ended)
		enqueue(t, d, "mail", "3")
		if r := d.MustDrain(t); len(r.Handled) != 1 || string(r.Handled[0].Message.Payload) != "3" {
			t.Errorf("handled %v", r.Handled)
		}
	})
}
