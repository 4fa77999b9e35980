package checker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// D-110
func TestAllIsWell(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
		f.Handle("t", newGate().Handle)
		if r := f.Health(f.ctx()); !r.Healthy() {
			t.Fatalf("before Run:\n%s", r)
		}
		f.run()
		for _, name := range []string{"process", "database", "schema", "loop/queue default", "loop/scheduler", "loop/heartbeat", "waiting", "paused", "inbox", "failed", "unhandled"} {
			f.until(name, health.OK)
		}
		f.works()
		if r := f.Health(f.ctx()); r.Level != health.OK {
			t.Fatalf("not well:\n%s", r)
		}
		f.alive()
	})
}

// D-110: nobody is there to claim, and then somebody is.
func TestWorkThatNobodyClaims(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: soon()})
		f.Handle("t", func(context.Context, *outbox.Message) error { return nil })
		for range 3 {
			f.enqueue(outbox.Message{})
		}
		c := f.until("waiting/queue/default", health.Problem)
		for _, want := range []string{"queue default: 3 messages are due", "topic t", "nobody has claimed any", "no worker of this queue is alive"} {
			if !strings.Contains(c.Summary, want) {
				t.Errorf("%q does not say %q", c.Summary, want)
			}
		}
		if c.Facts.Get("due") != int64(3) {
			t.Errorf("data: %v", c.Facts)
		}
		f.alive()
		f.run()
		f.until("waiting", health.OK)
		f.well()
	})
}

// D-110: workers are there, but their handlers hang, so that nothing is claimed.
func TestHandlersHang(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: soon(), Concurrency: 1})
		g := newGate()
		defer g.release()
		f.Handle("t", g.Handle)
		f.enqueue(outbox.Message{})
		f.run()
		<-g.inside
		f.enqueue(outbox.Message{})
		c := f.until("waiting/queue/default", health.Problem)
		if !strings.Contains(c.Summary, "hang") {
			t.Error(c.Summary)
		}
		f.alive() // the loop itself goes round
		f.until("loop/queue default", health.OK)
		g.release()
		f.well()
	})
}

// D-110: with all places taken by long messages, the backlog behind them waits: that
// is said, but it is no failure for a while.
func TestBusyIsNoFailure(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		o := soon()
		o.Busy = time.Hour
		f := open(t, e, pawl.Options{Health: o, Concurrency: 1})
		g := newGate()
		defer g.release()
		f.Handle("t", g.Handle)
		f.enqueue(outbox.Message{})
		f.run()
		<-g.inside
		f.enqueue(outbox.Message{})
		dbtest.Until(t, "it is said that all are busy", func() bool {
			r := f.Health(f.ctx())
			c := r.Find("waiting/queue/default")
			if !r.Healthy() {
				t.Fatalf("busy is a failure:\n%s", r)
			}
			return c != nil && c.Level == health.Warning && strings.Contains(c.Summary, "busy")
		})
	})
}

// D-110: nobody has a handler. The messages are claimed and put back, so nothing
// fails, but it is said.
func TestNoHandler(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{})
		f.Handle("t", newGate().Handle)
		f.enqueue(outbox.Message{Topic: "forgotten"})
		f.run()
		c := f.until("unhandled/forgotten", health.Warning)
		if !strings.Contains(c.Summary, "1 message of forgotten") || !strings.Contains(c.Summary, "no live worker has a handler") {
			t.Error(c.Summary)
		}
		f.well()
		if _, err := f.Admin.Pause(t.Context(), admin.Topic, "forgotten", ""); err != nil {
			t.Fatal(err)
		}
		f.until("unhandled", health.OK)
		if _, err := f.Admin.Resume(t.Context(), admin.Topic, "forgotten"); err != nil {
			t.Fatal(err)
		}
		f.until("unhandled/forgotten", health.Warning)

		other := on(t, f.db, pawl.Options{})
		other.Handle("forgot*", newGate().Handle)
		other.run()
		f.until("unhandled", health.OK)
	})
}

// D-110: messages that failed, that are due later, or whose topic or queue is paused
// are not claimed by anybody, and that is right. Beside them something waits that is
// not: once that is found, they would have been.
func TestWhatIsNotToBeClaimedIsNoFailure(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: soon()})
		f.enqueue(outbox.Message{Queue: "failed"})
		owner := outbox.NewOwnerToken()
		got, err := f.Outbox.WorkQueue("failed").Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		if n, err := f.Outbox.WorkQueue("").Fail(f.ctx(), owner, errors.New("broken"), got[0].Position); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		f.enqueue(outbox.Message{Queue: "future", Due: time.Now().Add(time.Hour)})
		for kind, name := range map[admin.Kind]string{admin.Queue: "still", admin.Topic: "still"} {
			_, err := f.Admin.Pause(f.ctx(), kind, name, "")
			f.check(err)
		}
		f.enqueue(outbox.Message{Queue: "still"})
		f.enqueue(outbox.Message{Queue: "topic", Topic: "still"})
		f.enqueue(outbox.Message{Queue: "mixed", Topic: "still"})
		f.enqueue(outbox.Message{Queue: "mixed", Topic: "t"})

		c := f.until("waiting/queue/mixed", health.Problem)
		if !strings.Contains(c.Summary, "topic t)") {
			t.Errorf("not the topic that can be claimed: %s", c.Summary)
		}
		r := f.Health(f.ctx())
		for i := range r.Findings {
			if c := &r.Findings[i]; c.Level == health.Problem && c.Code != "waiting/queue/mixed" {
				t.Errorf("%s: %s", c.Code, c.Summary)
			}
		}
		if c := r.Find("failed"); c.Level != health.Note || !strings.Contains(c.Summary, "1 message") {
			t.Error(c.Summary)
		}
		if c := r.Find("paused"); c.Level != health.Warning || !strings.Contains(c.Summary, "queue still") || !strings.Contains(c.Summary, "topic still") {
			t.Error(c.Summary)
		}
	})
}

// D-110: a backlog that is being worked off is healthy, whoever does so and however
// old it is.
func TestBacklogThatMoves(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
		for range 4 { // hours old, at two priorities
			f.enqueue(outbox.Message{Due: time.Now().Add(-time.Hour)})
			f.enqueue(outbox.Message{Due: time.Now().Add(-time.Hour), Priority: 5})
		}
		want := health.Warning // at the first look nobody can tell
		for range 5 {
			r := f.Health(f.ctx())
			c := r.Find("waiting/queue/default")
			if c == nil || c.Level != want || !r.Healthy() {
				t.Fatalf("want %s:\n%s", want, r)
			}
			// Another process, perhaps in another language, takes one.
			if got, err := f.Outbox.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), time.Minute, 1); len(got) != 1 || err != nil {
				t.Fatal(len(got), err)
			}
			want = health.OK
		}
	})
}

// D-110: what was finished lately counts, also if what is first in line does not move.
func TestWhatWasDoneIsASign(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
		f.enqueue(outbox.Message{})
		owner := outbox.NewOwnerToken()
		got, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		_, err = f.Outbox.WorkQueue("").Ack(f.ctx(), owner, got[0].Position)
		f.check(err)
		f.enqueue(outbox.Message{Due: time.Now().Add(-time.Hour)})
		if c := f.Health(f.ctx()).Find("waiting/queue/default"); c == nil || c.Level != health.OK {
			t.Fatalf("%+v", c)
		}
	})
}

// D-110: timers and jobs that nobody fires are work as well.
func TestTimersAndJobsThatNobodyFires(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: soon()})
		f.Handle("t", func(context.Context, *outbox.Message) error { return nil })
		_, err := f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "t", Due: time.Now().Add(-time.Minute)})
		f.check(err)
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "report", Topic: "t", Schedule: "@every 1s"}))
		if c := f.until("waiting/timers", health.Problem); !strings.Contains(c.Summary, "1 timer is due") {
			t.Error(c.Summary)
		}
		if c := f.until("waiting/jobs", health.Problem); !strings.Contains(c.Summary, "report") {
			t.Error(c.Summary)
		}
		f.run()
		f.until("waiting", health.OK)
	})
}

// D-110: other queues are none of a program's business that says so.
func TestQueuesThatCount(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		o := soon()
		o.Queues = []string{"mine"}
		f := open(t, e, pawl.Options{Health: o})
		f.enqueue(outbox.Message{Queue: "theirs"})
		f.enqueue(outbox.Message{Queue: "mine"})
		f.until("waiting/queue/mine", health.Problem)
		if c := f.Health(f.ctx()).Find("waiting/queue/theirs"); c != nil {
			t.Errorf("%+v", c)
		}
	})
}

// D-110: while the database was away nobody could claim.
func TestAnOutageIsNotHeldAgainstWorkers(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second, Waiting: 30 * time.Second}})
		f.enqueue(outbox.Message{Due: time.Now().Add(-time.Hour)})
		check := func() *health.Finding { return f.Health(f.ctx()).Find("waiting/queue/default") }
		if c := check(); c.Level != health.Warning {
			t.Fatalf("%+v", c)
		}
		_, err := f.Outbox.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), time.Minute, 1)
		f.check(err)
		f.enqueue(outbox.Message{Due: time.Now().Add(-time.Hour)})
		if c := check(); c.Level != health.OK {
			t.Fatalf("%+v", c)
		}
		f.breaks(func(context.Context, string) error { return engine.ErrUnreachable })
		if f.Health(f.ctx()).Healthy() {
			t.Fatal("healthy without a database")
		}
		f.breaks(nil)
		if c := check(); c.Level != health.Warning || !strings.Contains(c.Summary, "yet") {
			t.Fatalf("%+v", c)
		}
	})
}

// D-110: what is listed is bounded, and failures are listed first.
func TestManyQueues(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{})
		for i := range 30 {
			f.enqueue(outbox.Message{Queue: fmt.Sprintf("q%02d", i), Due: time.Now().Add(-time.Hour)})
		}
		r := checker.Inspect(f.ctx(), f.db, health.Options{Timeout: 20 * time.Second})
		if c := r.Find("waiting"); len(r.Findings) > 29 || c == nil || c.Level != health.Problem || !strings.Contains(c.Summary, "10 more queues") {
			t.Errorf("%d checks:\n%s", len(r.Findings), r)
		}
	})
}

// D-541: a pause that ends stops nothing any more: it is noted, and counted nowhere.
func TestPausesThatEnd(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
		wants := func(want health.Level, n int, says string) {
			t.Helper()
			for _, r := range []health.Report{f.Health(f.ctx()), checker.Inspect(f.ctx(), f.db, health.Options{Timeout: 20 * time.Second})} {
				if c := r.Find("paused"); c.Level != want || c.Facts.Get("count") != n || !strings.Contains(c.Summary, says) {
					t.Errorf("want %s, %d and %q: %+v", want, n, says, c)
				}
			}
			if counts, err := inspect.Counts(f.ctx(), f.db, 0, 10); counts.TopicsPaused != int64(n) || err != nil {
				t.Errorf("%+v, %v", counts, err)
			}
		}
		wants(health.OK, 0, "nothing is paused")
		for _, topic := range []string{"p", "q"} {
			_, err := f.Admin.Pause(f.ctx(), admin.Topic, topic, "")
			f.check(err)
		}
		wants(health.Warning, 2, "paused: topic p since ")
		end := func(topic string) {
			f.check(f.db.Do(f.ctx(), engine.Ask(op.PauseEnd{Kind: "topic", Name: topic, Note: op.Note{ID: &[16]byte{1}, Actor: "nobody", Target: topic}})))
		}
		end("p")
		wants(health.Warning, 1, "; 1 topic resumed and being brought back, such as p")
		end("q")
		wants(health.Note, 0, "nothing is paused; 2 topics resumed and being brought back, such as p")
		for _, topic := range []string{"p", "q"} {
			_, err := f.Admin.Resume(f.ctx(), admin.Topic, topic)
			f.check(err)
		}
		wants(health.OK, 0, "nothing is paused")
	})
}
