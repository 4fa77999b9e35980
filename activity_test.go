package pawl_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// D-570: what workers did is counted by topic and read from any process: messages enqueued, done,
// failed and expired, attempts that failed with their commonest error, messages without a handler.
func TestActivityIsCounted(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		p := runOnce(t, db, func(p *pawl.Pawl) {
			p.Handle("good", func(context.Context, *outbox.Message) error { return nil })
			var n atomic.Int64
			p.Handle("bad", func(context.Context, *outbox.Message) error {
				if n.Add(1) == 1 {
					return errors.New("no such customer")
				}
				return errors.New("dial tcp 10.0.0.7:25: i/o timeout")
			}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}})
		}, 20, 3)
		enqueueSome(t, p, "later", 2)
		a := readActivity(t, db, inspect.ActivityQuery{})
		if a.Known.IsZero() || a.More || len(a.Topics) != 4 {
			t.Fatalf("%d topics, known from %v, more %v", len(a.Topics), a.Known, a.More)
		}
		bad, good, later, nobody := a.Topics[0], a.Topics[1], a.Topics[2], a.Topics[3]
		if good.Enqueued != 20 || good.Done != 20 || good.Retried+good.Failed != 0 || good.Takes.Count() != 20 || good.Waits.Count() != 20 {
			t.Errorf("good: %+v, %d enqueued", good.Totals, good.Enqueued)
		}
		if bad.Enqueued != 3 || bad.Done != 0 || bad.Retried != 3 || bad.Failed != 3 || bad.CommonestError() != "dial tcp #: i/o timeout" || bad.Takes.Count() != 6 || bad.Waits.Count() != 3 {
			t.Errorf("bad: %+v, %d enqueued, %q", bad.Totals, bad.Enqueued, bad.CommonestError())
		}
		if later.Enqueued != 2 || later.Done != 0 {
			t.Errorf("later: %+v, %d enqueued", later.Totals, later.Enqueued)
		}
		if nobody.Topic != "nobody" || nobody.Unhandled == 0 || nobody.Enqueued != 1 || nobody.Done+nobody.Retried != 0 {
			t.Errorf("nobody: %+v, %d enqueued", nobody.Totals, nobody.Enqueued)
		}
		one := readActivity(t, db, inspect.ActivityQuery{Topic: "good", Queue: outbox.DefaultQueue, Since: 5 * time.Minute})
		if len(one.Topics) != 1 || one.Topics[0].Done != 20 || one.Step != time.Minute || len(one.Topics[0].Steps) != 5 {
			t.Errorf("of one topic: %d topics in steps of %v", len(one.Topics), one.Step)
		}
		var sum int64
		for _, s := range one.Topics[0].Steps {
			sum += s.Done
		}
		if sum != 20 {
			t.Errorf("the steps have %d", sum)
		}
	})
}

// D-615: a wait that comes before its join is over is put off, and counts once, when it is handled.
func TestWaitsCountOnce(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		p.Handle("step", func(context.Context, *outbox.Message) error { return nil })
		p.Handle("after", func(context.Context, *outbox.Message) error { return nil })
		_, err = p.Joins.FanOut(t.Context(), join.Spec{}, []outbox.Message{{Topic: "step", Due: time.Now().Add(time.Second)}}, join.Wait{OnComplete: outbox.Message{Topic: "after"}})
		if err == nil {
			err = p.Run(t.Context()) // the wait finds the join pending
		}
		dbtest.Until(t, "the follow-up is done", func() bool {
			err = errors.Join(err, p.Run(t.Context()))
			a := readActivity(t, db, inspect.ActivityQuery{Topic: "after"})
			return err != nil || len(a.Topics) > 0 && a.Topics[0].Done == 1
		})
		if a := readActivity(t, db, inspect.ActivityQuery{Topic: join.DefaultTopic}); err != nil || len(a.Topics) != 1 || a.Topics[0].Done != 1 {
			t.Errorf("%+v, %v", a.Topics, err)
		}
	})
}

// runOnce enqueues messages of topics good, bad and nobody, and works until nothing is due.
func runOnce(t *testing.T, db dbtest.Database, handle func(*pawl.Pawl), good, bad int) *pawl.Pawl {
	t.Helper()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	handle(p)
	enqueueSome(t, p, "good", good)
	enqueueSome(t, p, "bad", bad)
	enqueueSome(t, p, "nobody", 1)
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func enqueueSome(t *testing.T, p *pawl.Pawl, topic string, n int) {
	t.Helper()
	for range n {
		if _, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: topic}); err != nil {
			t.Fatal(err)
		}
	}
}

func readActivity(t *testing.T, db engine.DB, q inspect.ActivityQuery) inspect.Activity {
	t.Helper()
	a, err := inspect.ReadActivity(t.Context(), db, q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// D-217: of what cannot be read the rest is counted; a time that is out of bounds is refused.
func TestActivityOfDamagedRows(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		c := newClaimer(t, e)
		enqueueSome(t, c.p, "a", 2)
		enqueueSome(t, c.p, "b", 2)
		c.settled(3)(c.p.Outbox.WorkQueue("").Ack(t.Context(), c.owner, c.claim(c.p.Outbox.WorkQueue(""), 3)...))
		if c.db.Engine() == "postgres" {
			_, err := c.db.SQL.ExecContext(t.Context(), "UPDATE "+c.db.Table("outbox_message")+" SET created_at = 'infinity' WHERE topic = 'b'")
			c.check(err)
			_, err = c.p.Outbox.WorkQueue("").Claim(t.Context(), c.owner, time.Hour, 1) // it fails, unread
			c.check(err)
			enqueueSome(t, c.p, "c", 1)
			_, err = c.db.SQL.ExecContext(t.Context(), "UPDATE "+c.db.Table("outbox_message")+" SET created_at = '-infinity' WHERE topic = 'c'")
			c.check(err)
			c.topic("b", 1, 1, 0, 1, 0, "cannot be read: column created_at: cannot scan Infinity into *time.Time")
		}
		_, err := c.db.SQL.ExecContext(t.Context(), "UPDATE "+c.db.Table("activity")+" SET created = '{' WHERE topic = 'b'")
		c.check(err)
		c.topic("a", 2, 2, 0, 0, 0, "")
		for _, since := range []time.Duration{-1, time.Second, 31 * 24 * time.Hour} {
			_, err := inspect.ReadActivity(t.Context(), c.db, inspect.ActivityQuery{Since: since})
			var invalid *engine.InvalidError
			if !errors.Is(err, pawl.ErrInvalid) || !errors.As(err, &invalid) || invalid.Field() != "since" {
				t.Errorf("%s: %v", since, err)
			}
		}
	})
}
