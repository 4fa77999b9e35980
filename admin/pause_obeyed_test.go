package admin_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// gate is handlers that wait.
type gate struct {
	begun, ended atomic.Int64
	open         chan struct{}
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

// Handle waits until the gate opens.
func (g *gate) Handle(ctx context.Context, _ *outbox.Message) error {
	g.begun.Add(1)
	select {
	case <-g.open:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.ended.Add(1)
	return nil
}

// fill stores n messages in a queue.
func (f *fixture) fill(n int, topic, queue string) {
	f.t.Helper()
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: topic, Queue: queue}
	}
	_, err := f.Outbox.EnqueueBatch(f.ctx(), msgs)
	f.check(err)
}

// untilKnown waits until a worker's own look at what is paused has found it.
func (f *fixture) untilKnown(queue, topic string, want worker.PauseState) {
	f.t.Helper()
	dbtest.Until(f.t, "the worker knows", func() bool { return admin.PausesOf(f.Admin).Of(queue, topic) == want })
}

// What another process pauses, a worker begins no more of once it has looked: what
// it holds goes back without an attempt, what is enqueued waits, and all else flows
// on. Each message is claimed once more at most, not over and over.
func testObeyed(t *testing.T, e dbtest.Engine, kind admin.Kind, name string) {
	const most, busy, late = 20, 2, 5
	f := open(t, e)
	w := f.another(pawl.Options{Concurrency: busy, BatchSize: most, Queues: []string{outbox.DefaultQueue, "other"}})
	g, flow := newGate(), newTally()
	w.Handle("p", g.Handle)
	w.Handle("u", flow.Handle)
	f.fill(most, "p", "other")
	w.start()
	dbtest.Until(t, "handlers wait", func() bool { return g.begun.Load() == busy })
	f.pause(kind, name)
	want := worker.QueuePaused
	if kind == admin.Topic {
		want = worker.TopicPaused
	}
	w.untilKnown("other", "p", want)
	close(g.open)
	f.untilCounts("what was not begun goes back", outbox.Counts{Ready: most - busy, Done: busy})
	f.fill(late, "p", "other")
	f.fill(late, "u", outbox.DefaultQueue)
	if kind == admin.Topic {
		f.fill(late, "u", "other")
	}
	dbtest.Until(t, "other work flows on", func() bool { return flow.sum() >= late })
	if kind == admin.Topic {
		dbtest.Until(t, "and in the same queue, and what came late is parked", func() bool {
			return flow.sum() == 2*late && f.db.Aside(t) == most-busy+late
		})
	}
	if g.begun.Load() != busy {
		t.Fatalf("%d handlers began, %d of them while it was paused", g.begun.Load(), g.begun.Load()-busy)
	}
	for id, n := range w.seen.PerMessage(worker.OutcomePaused) {
		if n != 1 {
			t.Errorf("message %v was put back %d times", id, n)
		}
	}
	if n := w.seen.Claims("other"); n > most+busy+2*late+most {
		t.Errorf("%d claims of %d messages", n, most+2*late)
	}
	for _, a := range w.seen.Attempts("p") {
		if a.Outcome == worker.OutcomePaused && (a.Retry != 0 || a.Took != 0) {
			t.Errorf("%+v", a)
		}
	}
	var retried int
	f.db.Row(t, "SELECT count(*) FROM "+f.db.Table("outbox")+" WHERE retry_count > 0", &retried)
	if retried != 0 {
		t.Errorf("%d attempts are on account", retried)
	}
	f.resume(kind, name)
	all := outbox.Counts{Done: most + 2*late}
	if kind == admin.Topic {
		all.Done += late
	}
	f.untilCounts("all is handled", all)
	if g.ended.Load() != most+late {
		t.Errorf("%d handlers ended, want %d", g.ended.Load(), most+late)
	}
	f.wantParked(0)
	f.db.CheckPlaces(t)
}

// A worker that is stopped during a pause stops.
func TestStopWhilePaused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Concurrency: 2, BatchSize: 20})
		g := newGate()
		f.Handle("p", g.Handle)
		f.fill(20, "p", outbox.DefaultQueue)
		stop := f.start()
		dbtest.Until(t, "handlers wait", func() bool { return g.begun.Load() == 2 })
		f.pause(admin.Topic, "p")
		close(g.open)
		stop()
		got, err := f.Outbox.Count(f.ctx())
		f.check(err)
		if got.InProgress != 0 || got.Done != g.ended.Load() || got.Done+got.Ready != 20 || got.Done < 2 {
			t.Fatalf("after the stop there are %+v, and %d handlers ended", got, g.ended.Load())
		}
		f.resume(admin.Topic, "p")
		f.drain(done)
		f.counts(outbox.Counts{Done: 20})
		f.db.CheckPlaces(t)
	})
}

// A worker that believes in a pause that is over does not spin: it reads the pauses again as
// soon as it parks something, or claims something that is paused.
func TestStaleWorker(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		for kind, name := range map[admin.Kind]string{admin.Topic: "p", admin.Queue: outbox.DefaultQueue} {
			f := open(t, e)
			f.pause(kind, name)
			// Its first look finds the pause; all others but those that the worker asks for
			// itself come too late.
			w := f.another(pawl.Options{})
			count := newTally()
			w.Handle("p", count.Handle)
			w.Handle("u", done)
			stop := w.start()
			for round := range 20 {
				f.pauses(round > 0, kind, name)
				f.check(admin.PausesOf(w.Admin).Refresh(f.ctx()))
				f.resume(kind, name)
				f.fill(5, "p", outbox.DefaultQueue)
				dbtest.Until(t, "all are handled", func() bool { return count.sum() == 5*(round+1) })
			}
			stop()
			if c := w.Internal(access.Key{}).Stats(); c.Claimed > 300 || c.Acked != 100 {
				t.Errorf("%s: to handle 100 messages it did %+v", kind, c)
			}
			count.once(t, 100)
		}
	})
}

// What was paused while the database was away is known before anything begins.
func TestObeyedAfterOutage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		var away atomic.Bool
		var refused atomic.Int64
		w := on(t, f.db, &flaky{DB: f.db.Another(t), fail: func(string) bool {
			if away.Load() {
				refused.Add(1)
			}
			return away.Load()
		}}, pawl.Options{})
		count := newTally()
		w.Handle("p", count.Handle)
		w.Handle("u", count.Handle)
		w.start()
		f.fill(1, "u", outbox.DefaultQueue)
		dbtest.Until(t, "it works", func() bool { return count.sum() == 1 })
		away.Store(true)
		dbtest.Until(t, "it notices", func() bool { return w.Internal(access.Key{}).Stats().Errors > 0 && refused.Load() > 2 })
		f.pause(admin.Topic, "p")
		f.fill(5, "p", outbox.DefaultQueue)
		away.Store(false)
		dbtest.Until(t, "all are parked", func() bool { return f.db.Aside(t) == 5 })
		count.once(t, 1)
	})
}

// A topic is paused in all queues and at all priorities.
func TestTopicInSeveralQueues(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		queues := []string{"a", "b", "c"}
		for _, queue := range queues {
			for priority := range 3 {
				f.put(outbox.Message{Topic: "p", Queue: queue, Priority: priority})
				f.put(outbox.Message{Topic: "q", Queue: queue, Priority: priority})
			}
		}
		f.pause(admin.Topic, "p")
		f.pause(admin.Topic, "u") // of which there is nothing
		count := newTally()
		f.drain(count.Handle, queues...)
		count.once(t, 9)
		f.wantParked(9)
		f.resume(admin.Topic, "u")
		f.wantParked(9)
		f.resume(admin.Topic, "p")
		f.drain(count.Handle, queues...)
		count.once(t, 18)
	})
}

// Turns of a fleet end beside what is paused.
func TestTurnsEndWhilePaused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		count := newTally()
		f.Handle("p", count.Handle)
		f.Handle("u", count.Handle)
		turn := func() {
			t.Helper()
			f.check(f.Internal(access.Key{}).Slice(f.ctx(), worker.TimeSlice{IdleTimeout: func() time.Duration { return 0 }}))
		}
		f.fill(5, "p", outbox.DefaultQueue)
		f.fill(5, "u", outbox.DefaultQueue)
		f.pause(admin.Queue, outbox.DefaultQueue)
		turn()
		count.once(t, 0)
		if c := f.Internal(access.Key{}).Stats(); c.Claimed != 0 {
			t.Fatalf("the turn did %+v", c)
		}
		f.pause(admin.Topic, "p")
		f.resume(admin.Queue, outbox.DefaultQueue)
		for count.sum() < 5 {
			turn()
		}
		turn()
		if c := f.Internal(access.Key{}).Stats(); c.Claimed != 10 || c.Paused != 5 {
			t.Fatalf("the turns did %+v", c)
		}
		f.resume(admin.Topic, "p")
		for count.sum() < 10 {
			turn()
		}
		count.once(t, 10)
	})
}

// Handlers that are at work go on to their end.
func TestPauseLetsHandlersFinish(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		g := newGate()
		f.Handle("p", g.Handle)
		f.fill(3, "p", outbox.DefaultQueue)
		f.start()
		dbtest.Until(t, "handlers wait", func() bool { return g.begun.Load() == 3 })
		f.pause(admin.Topic, "p")
		f.pause(admin.Queue, outbox.DefaultQueue)
		close(g.open)
		f.untilCounts("they end", outbox.Counts{Done: 3})
		if g.ended.Load() != 3 {
			t.Fatalf("%d of 3 ended", g.ended.Load())
		}
	})
}

func TestPauseObeyedTopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) { testObeyed(t, e, admin.Topic, "p") })
}

func TestPauseObeyedQueue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) { testObeyed(t, e, admin.Queue, "other") })
}
