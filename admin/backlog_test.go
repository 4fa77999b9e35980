package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// batch stores n messages like m.
func (f *explainFixture) batch(n int, m outbox.Message) {
	f.t.Helper()
	_, err := f.Outbox.EnqueueBatch(f.ctx(), slices.Repeat([]outbox.Message{m}, n))
	f.check(err)
}

// lie stores messages in every state, and timers, joins and a worker.
func (f *explainFixture) lie() {
	f.t.Helper()
	f.worker("w", "default", "a")
	f.batch(2, outbox.Message{Topic: "bad"})
	owner, msgs := f.claim(leaseTime)
	for _, m := range msgs {
		_, err := f.Outbox.WorkQueue("").Fail(f.ctx(), owner, outbox.Permanent(errors.New("no")), m.Position)
		f.check(err)
	}
	f.batch(3, outbox.Message{Topic: "held"})
	f.claim(leaseTime)
	f.batch(4, outbox.Message{Topic: "again"})
	owner, msgs = f.claim(leaseTime)
	for _, m := range msgs {
		_, err := f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, errors.New("busy")), m.Position)
		f.check(err)
	}
	f.batch(2, outbox.Message{Topic: "a", Priority: 7}) // two lanes of one queue are one amount
	f.batch(4, outbox.Message{Topic: "a"})
	f.batch(1, outbox.Message{Topic: "b"})
	f.batch(5, outbox.Message{Topic: "a", Due: f.now().Add(time.Hour)})
	f.batch(6, outbox.Message{Topic: "q", Queue: "slow"})
	_, err := f.Admin.Pause(f.ctx(), admin.Queue, "slow", "")
	f.check(err)
	for _, due := range []time.Duration{-2 * time.Hour, time.Hour, time.Hour} {
		_, err = f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "t", Due: f.now().Add(due)})
		f.check(err)
	}
	for range 2 {
		_, err = f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 1})
		f.check(err)
	}
	ready := f.db.Table("outbox_ready")
	f.exec("UPDATE " + ready + " SET at = " + f.db.Ago(time.Hour) + " WHERE n = 4")
}

// D-217: what waits is counted by queue, topic and state.
func TestBacklog(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		empty, err := inspect.ReadBacklog(f.ctx(), f.db)
		if f.check(err); empty.Messages == nil || len(empty.Messages) != 0 || empty.Failed != 0 || empty.Workers != 0 || empty.TimersLate != 0 {
			t.Errorf("of nothing: %+v", empty)
		}
		f.lie()
		b, err := inspect.ReadBacklog(f.ctx(), f.db)
		f.check(err)
		for i := range b.Messages {
			m := &b.Messages[i]
			waits := m.State == "ready" || m.State == "paused"
			if old := m.Topic == "a" && m.State == "ready"; m.Oldest < 0 || (m.Oldest >= time.Hour) != old || !waits && m.Oldest != 0 || m.Oldest > 2*time.Hour {
				t.Errorf("the oldest of %+v", m)
			}
			m.Oldest = 0
		}
		want := []inspect.Amount{
			{Queue: "default", Topic: "a", State: "ready", Count: 6}, {Queue: "default", Topic: "a", State: "scheduled", Count: 5},
			{Queue: "default", Topic: "again", State: "retrying", Count: 4},
			{Queue: "default", Topic: "b", State: "ready", Count: 1}, {Queue: "default", Topic: "bad", State: "failed", Count: 2},
			{Queue: "default", Topic: "held", State: "in_flight", Count: 3}, {Queue: "slow", Topic: "q", State: "paused", Count: 6},
		}
		if !slices.Equal(b.Messages, want) {
			t.Errorf("there are %+v, want %+v", b.Messages, want)
		}
		if b.TimersLate < 2*time.Hour || b.TimersLate > 3*time.Hour {
			t.Errorf("the first timer is late by %s", b.TimersLate)
		}
		b.Messages, b.TimersLate = nil, 0
		got, err := json.Marshal(b)
		if want := `{"messages":null,"failed":2,"timers_due":1,"timers_scheduled":2,"joins_pending":2,"joins_failed":0,"workers":1}`; err != nil || string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// D-217: what is beyond the bounds is marked, and joins that failed are counted apart.
func TestBacklogBounds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.fillReady(10_500)
		b, err := inspect.ReadBacklog(f.ctx(), f.db)
		f.check(err)
		if len(b.Messages) != 2 || b.Messages[1].Topic != "" {
			t.Fatalf("%+v", b.Messages)
		}
		a, err := inspect.ReadActivity(f.ctx(), f.db, inspect.ActivityQuery{})
		f.check(err)
		if !a.More || len(a.Topics) != 1 || a.Topics[0].Enqueued != 10_000 {
			t.Errorf("%d topics, more %v", len(a.Topics), a.More)
		}
		known, rest := b.Messages[0], b.Messages[1]
		if known.Topic != "t" || known.Count+rest.Count != 10_000 || !rest.More || rest.State != "ready" || rest.Oldest != 0 {
			t.Errorf("%+v", b.Messages)
		}
		_, err = f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 1})
		f.check(err)
		f.exec("UPDATE " + f.db.Table("outbox_join") + " SET status = 2")
		if b, err = inspect.ReadBacklog(f.ctx(), f.db); err != nil || b.JoinsFailed != 1 || b.JoinsPending != 0 {
			t.Errorf("%+v, %v", b, err)
		}
	})
}

// D-584: what is due later is bounded as one, whether it was scheduled or is retrying: there may be
// more of both.
func TestBacklogBoundsLater(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.fillReady(10_500)
		ready := f.db.Table("outbox_ready")
		f.exec("UPDATE " + ready + " SET at = (SELECT " + f.db.Ago(-time.Hour) + "), retry = 1") // all at one time
		for _, scheduled := range []int64{0, 10, 10_000} {
			f.exec(fmt.Sprintf("UPDATE %s SET retry = 0 WHERE lo IN (SELECT lo FROM (SELECT lo FROM %s ORDER BY lo) x ORDER BY lo LIMIT %d)", ready, ready, scheduled))
			b, err := inspect.ReadBacklog(f.ctx(), f.db)
			f.check(err)
			for state, want := range map[string]int64{"scheduled": scheduled, "retrying": 10_000 - scheduled} {
				if n, more := inspect.Of(b.Messages, state); n != want || !more {
					t.Errorf("%d %s, want %d, more %v", n, state, want, more)
				}
			}
		}
	})
}

// fillReady stores n messages of topic t, each a run of its own.
func (f *explainFixture) fillReady(n int) {
	f.t.Helper()
	for n > 0 {
		some := min(n, 500)
		f.batch(some, outbox.Message{Topic: "t"})
		n -= some
	}
	ready, message := f.db.Table("outbox_ready"), f.db.Table("outbox_message")
	f.exec("DELETE FROM " + ready)
	f.exec("INSERT INTO " + ready + " (lane, at, lo, n) SELECT lane, created_at, id, 1 FROM " + message)
}

// D-217: an error of the database is the caller's.
func TestBacklogFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		ctx, cancel := context.WithCancel(f.ctx())
		cancel()
		if _, err := inspect.ReadBacklog(ctx, f.db); !errors.Is(err, context.Canceled) {
			t.Errorf("Backlog: %v", err)
		}
		if _, err := inspect.ReadActivity(ctx, f.db, inspect.ActivityQuery{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Activity: %v", err)
		}
		for _, name := range []string{"backlog/messages", "backlog/counts", "clock/now", "activity/extent", "activity/list", "activity/waiting"} {
			broken := &flaky{DB: f.db.DB, fail: func(op string) bool { return op == name }}
			b, one := inspect.ReadBacklog(f.ctx(), broken)
			a, other := inspect.ReadActivity(f.ctx(), broken, inspect.ActivityQuery{})
			if one == nil && other == nil || one != nil && b.Messages != nil || other != nil && a.Topics != nil {
				t.Errorf("%s: %v, %v", name, one, other)
			}
		}
	})
}

// D-535: what was not counted of a paused topic is reported of each of its queues.
func TestBacklogOfAPausedTopicIsBounded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.pause(admin.Topic, "p")
		for range 60 {
			f.put(outbox.Message{Topic: "p"})
			f.put(outbox.Message{Topic: "p", Queue: "slow"})
		}
		f.drain(done)
		f.drain(done, "slow")
		f.wantParked(120)
		amounts, err := engine.Query(f.ctx(), f.db, op.BacklogMessages{Runs: 100, Messages: 100, Lanes: 10})
		f.check(err)
		n := int64(0)
		for _, a := range amounts {
			if n += a.N; a.State == "paused" && a.N > 0 && !a.More {
				t.Errorf("that is not all: %+v", a)
			}
		}
		if n != 100 {
			t.Errorf("%d of 120 were counted", n)
		}
	})
}

// D-645: runs of any length, of queues that take turns, are counted by topic wherever they begin and end, up to the
// bound; what lies behind it has no topic.
func TestBacklogOfRunsOfAnyLength(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		want, ready := map[string]int64{}, int64(0)
		for i, n := range []int{1, 3, 127, 1, 128, 129, 1, 1, 300, 2, 64, 1} {
			topic, queue := fmt.Sprint("t", i%3), []string{"default", "slow"}[i%2]
			f.batch(n, outbox.Message{Topic: topic, Queue: queue})
			want["ready "+queue+" "+topic] += int64(n)
			ready += int64(n)
		}
		f.batch(5, outbox.Message{Topic: "t0", Due: f.now().Add(time.Hour)})
		want["scheduled default t0"] = 5
		_, msgs := f.claim(leaseTime)
		for _, m := range msgs {
			want["in_flight default "+m.Topic]++
			want["ready default "+m.Topic]--
		}
		ready -= int64(len(msgs))
		for share, shown := range map[int64]int64{1000: ready, 350: 350 + 137, 200: 200 + 137, 100: 100 + 100} { // 137 wait in the other queue
			amounts, err := engine.Query(f.ctx(), f.db, op.BacklogMessages{Runs: 1000, Messages: 2 * share, Lanes: 10})
			f.check(err)
			n, named := int64(0), int64(0)
			for _, a := range amounts {
				place := a.State + " " + a.Queue + " " + a.Topic
				if a.Topic != "" && (a.N > want[place] || share == 1000 && a.N != want[place]) || a.More {
					t.Errorf("of %d: %s: %+v, want %d", share, place, a, want[place])
				}
				if a.State == "ready" {
					if n += a.N; a.Topic != "" {
						named += a.N
					}
				}
			}
			if n != ready || named != shown {
				t.Errorf("of %d: %d are ready, %d by topic; want %d, %d", share, n, named, ready, shown)
			}
		}
		a, err := inspect.ReadActivity(f.ctx(), f.db, inspect.ActivityQuery{})
		f.check(err)
		for i := range a.Topics {
			topic := &a.Topics[i]
			all := int64(0)
			for _, state := range []string{"ready", "scheduled", "in_flight"} {
				all += want[state+" "+topic.Queue+" "+topic.Topic]
			}
			if topic.Enqueued != all || all == 0 {
				t.Errorf("%s in %s: %d were enqueued, want %d", topic.Topic, topic.Queue, topic.Enqueued, all)
			}
		}
	})
}
