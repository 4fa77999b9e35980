package outbox_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// at enqueues messages of topic a into a queue, all due since so long.
func (f *fixture) at(queue string, ago time.Duration, priority int, names ...string) {
	f.t.Helper()
	for _, name := range names {
		f.enqueue(outbox.Message{Topic: "a", Queue: queue, Payload: []byte(name), Priority: priority, Due: time.Now().Add(-ago)})
	}
}

// from claims up to n of a queue, insists on which come, and returns how to end them. A queue that asks for a place
// goes on asking, however long the test takes: three seconds later it would have asked without result.
func (f *fixture) from(queue string, n int, want ...string) (end func()) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.WorkQueue(queue).Claim(f.ctx(), owner, lease, n)
	if got := names(msgs); err != nil || !slices.Equal(got, want) {
		f.t.Fatalf("claimed %q of queue %s, %v, want %q", got, queue, err, want)
	}
	f.asked(-time.Minute)
	return func() {
		f.t.Helper()
		for _, m := range msgs {
			f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, m.Position))
		}
	}
}

// asked moves the time at which queues asked for places of limits.
func (f *fixture) asked(ago time.Duration) {
	f.t.Helper()
	value := fmt.Sprint(time.Now().Add(-ago).UnixMicro())
	switch f.db.Engine() {
	case "postgres":
		value = fmt.Sprintf("clock_timestamp() - interval '%d milliseconds'", ago.Milliseconds())
	case "sqlserver":
		value = fmt.Sprintf("DATEADD(millisecond, -%d, SYSUTCDATETIME())", ago.Milliseconds())
	}
	f.exec("UPDATE " + f.db.Table("outbox_lane") + " SET asked = " + value + " WHERE asked IS NOT NULL")
}

// D-441: of two queues under one limit the place goes to that whose oldest message is due for longer,
// not to who has freed it, while both wait for it.
func TestPlacesGoToTheOldestDue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
		f.at("b", 40*time.Second, 0, "b1", "b2")
		f.at("default", 30*time.Second, 0, "a1", "a2")
		f.at("b", 20*time.Second, 0, "b3")
		end := f.from("default", 10, "a1") // b has not asked yet
		f.from("b", 10)
		end()
		f.from("default", 10)
		end = f.from("b", 10, "b1")
		f.from("default", 10)
		end()
		f.from("b", 10, "b2")()
		f.from("b", 10)
		end = f.from("default", 10, "a2")
		end()
		f.from("b", 10, "b3")()
	})
}

// D-441: a place is not kept for a queue that does not ask any more, or has no room for it.
func TestPlacesAreNotKeptForLong(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 2})
		f.at("b", 40*time.Second, 0, "b1", "b2", "b3", "b4")
		f.at("default", 20*time.Second, 0, "a1", "a2", "a3", "a4")
		first := f.from("default", 1, "a1")
		second := f.from("default", 1, "a2")
		f.from("b", 10)
		first()
		f.from("default", 1)
		f.asked(time.Minute)
		first = f.from("default", 1, "a3")
		f.from("b", 10)
		second()
		second = f.from("b", 1, "b1") // all that it wanted
		first()
		f.from("default", 1, "a4")
		second()
	})
}

// D-441, D-210: priorities hold among queues as in one, and what has waited for longer than a loop
// lets it goes first.
func TestPlacesAndPriorities(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
		f.at("b", 40*time.Second, 5, "b1")
		f.at("default", 20*time.Second, 0, "a1", "a2", "a3")
		end := f.from("default", 10, "a1")
		f.from("b", 10)
		end()
		end = f.from("default", 10, "a2")
		end()
		wait := 30 * time.Second
		if got := f.asLoop("default", &wait); len(got) > 0 {
			t.Fatalf("claimed %d although b1 has waited for longer", len(got))
		}
		f.from("b", 10, "b1")()
		if got := f.asLoop("default", &wait); len(got) != 1 {
			t.Fatalf("claimed %d, want a3", len(got))
		}
	})
}

// asLoop claims as a loop does.
func (f *fixture) asLoop(queue string, wait *time.Duration) (got []op.OutboxClaimed) {
	f.t.Helper()
	if err := f.db.Do(f.ctx(), engine.List(op.OutboxClaim{Queue: queue, Owner: outbox.NewOwnerToken(), Lease: lease, Most: 10, Wait: wait}, &got)); err != nil {
		f.t.Fatal(err)
	}
	return got
}

// D-441: of a rate, too, the next goes to the oldest due, even if the other queue asks again only when
// the rate allows one.
func TestRatesGoToTheOldestDue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Rate: 1, Period: time.Minute})
		f.at("b", 40*time.Second, 0, "b1")
		f.at("default", 20*time.Second, 0, "a1", "a2")
		f.from("default", 10, "a1")()
		f.from("b", 10)
		f.asked(30 * time.Second)
		f.due()
		f.from("default", 10)
		f.from("b", 10, "b1")()
		f.due()
		f.from("default", 10, "a2")()
	})
}

// due makes the rate of the limit allow another one.
func (f *fixture) due() {
	f.t.Helper()
	now := map[string]string{"postgres": "clock_timestamp()", "sqlserver": "SYSUTCDATETIME()"}[f.db.Engine()]
	if now == "" {
		now = fmt.Sprint(time.Now().UnixMicro())
	}
	f.exec("UPDATE " + f.db.Table("outbox_limit") + " SET next_at = " + now)
}

// D-441: the place of a queue's limit goes to the oldest of its topics.
func TestPlacesOfAQueueGoToTheOldestTopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Each, "call.*", throttle.Bounds{Concurrency: 1})
		want := make([]string, 12)
		for i := range want {
			want[i] = fmt.Sprintf("call.%d", (i*7)%12)
			f.send(want[i])
		}
		owner, msgs := f.claim(100)
		for i, name := range want { // which wait for their limits, each with its own time
			f.enqueue(outbox.Message{Topic: name, Payload: []byte(name), Due: time.Now().Add(time.Duration(i-60) * time.Second)})
			f.from(outbox.DefaultQueue, 10)
		}
		f.limit(throttle.Queue, outbox.DefaultQueue, throttle.Bounds{Concurrency: 1})
		for _, m := range msgs {
			f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, m.Position))
		}
		for _, name := range want {
			f.from(outbox.DefaultQueue, 10, name)()
		}
	})
}

// D-441: of a worker's two queues under one limit, one that never runs dry does not keep the older
// messages of the other waiting. Two processes, so that they wake each other through the database.
func TestTwoQueuesUnderOneLimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
		const older = 5
		f.at("b", time.Minute, 0, slices.Repeat([]string{"b"}, older)...)
		f.at("default", 0, 0, slices.Repeat([]string{"a"}, 10)...)
		ctx, stop := context.WithCancel(f.ctx())
		defer stop()
		var begun, done atomic.Int64
		var loops sync.WaitGroup
		for _, queue := range []string{"default", "b"} {
			o := parts.NewOutbox(f.db, worker.Options{Queues: []string{queue}})
			o.Handle("a", func(ctx context.Context, m *outbox.Message) error {
				if m.Queue == "b" {
					if done.Add(1) == older {
						stop()
					}
					return nil
				}
				begun.Add(1)
				_, err := f.Enqueue(ctx, outbox.Message{Topic: "a"})
				return err
			})
			loops.Go(func() { _ = o.Run(ctx) })
		}
		loops.Wait()
		if n := begun.Load(); n > 500 {
			t.Errorf("%d newer messages began before the %d older ones", n, older)
		}
	})
}
