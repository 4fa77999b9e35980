package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func message(id string) inbox.Message {
	return inbox.Message{Key: key(id), Topic: "paid", Payload: []byte("body"), CorrelationID: "c", Headers: map[string]string{"k": "v"}}
}

// D-8, D-56: a due time before 1970 means now.
func TestQueueDueBefore1970(t *testing.T) { dbtest.Each(t, testQueueDueBefore1970) }

func testQueueDueBefore1970(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	dues := []time.Time{time.Unix(0, -1), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(-300_000, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i, due := range dues {
		m := message(fmt.Sprint(i))
		m.Due = due
		added, err := f.Enqueue(f.ctx(), m)
		f.check(err)
		if !added {
			t.Fatalf("due at second %d: not added", due.Unix())
		}
	}
	var handled atomic.Int64 // by several at once
	f.HandleInbox("paid", func(context.Context, *inbox.Message) error { handled.Add(1); return nil })
	f.check(f.Run(f.ctx()))
	if n := handled.Load(); n != int64(len(dues)) {
		t.Fatalf("handled %d of %d", n, len(dues))
	}
}

// D-56
func TestEnqueue(t *testing.T) { dbtest.Each(t, testEnqueue) }

func testEnqueue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	m := message("a")
	m.Hash = []byte{1, 2}
	for n := range 3 {
		added, err := f.Enqueue(f.ctx(), m)
		f.check(err)
		if added != (n == 0) {
			t.Fatalf("delivery %d was added: %v", n+1, added)
		}
	}
	var got []*inbox.Message
	f.HandleInbox("paid", func(_ context.Context, m *inbox.Message) error { got = append(got, m); return nil })
	f.check(f.Run(f.ctx()))
	if len(got) != 1 || got[0].Key.String() != "billing/a" || string(got[0].Hash) != "\x01\x02" || string(got[0].Payload) != "body" ||
		got[0].CorrelationID != "c" || len(got[0].Headers) != 1 || got[0].Headers["k"] != "v" {
		t.Fatalf("handled %+v", got)
	}
	if added, err := f.Enqueue(f.ctx(), m); added || err != nil {
		t.Fatalf("added a done message: %v, %v", added, err)
	}
	m.Hash = []byte{3}
	_, err := f.Enqueue(f.ctx(), m)
	f.is(err, inbox.ErrHashMismatch)
	f.state(key("a"), inbox.Done, 6, 1)
	bad := message("b")
	bad.Topic = ""
	_, err = f.Enqueue(f.ctx(), bad)
	f.is(err, engine.ErrInvalid)
}

// D-56, D-3
func TestEnqueueInTransaction(t *testing.T) { dbtest.Each(t, testEnqueueInTransaction) }

func testEnqueueInTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{false, true, true} {
		tx := f.db.Begin(t)
		_, err := f.EnqueueTx(f.ctx(), tx, message("a"))
		f.check(err)
		if commit {
			f.check(tx.Commit())
		} else {
			f.check(tx.Rollback())
		}
	}
	var handled atomic.Int64
	f.HandleInbox("paid", func(context.Context, *inbox.Message) error { handled.Add(1); return nil })
	f.check(f.Run(f.ctx()))
	if handled.Load() != 1 {
		t.Fatalf("handled %d times", handled.Load())
	}
	_, err := f.EnqueueTx(f.ctx(), nil, message("a"))
	f.is(err, engine.ErrInvalid)
}

// D-56, D-51: failed attempts leave nothing, the one that succeeds its effect.
func TestHandleInTransaction(t *testing.T) { dbtest.Each(t, testHandleInTransaction) }

func testHandleInTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{Delay: func(int) time.Duration { return 0 }}})
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		_, err := f.Enqueue(f.ctx(), message(id))
		f.check(err)
	}
	var tries atomic.Int64
	f.HandleInboxTx("paid", func(ctx context.Context, tx outbox.Tx, m *inbox.Message) error {
		if err := f.effect(ctx, tx, m.MessageID); err != nil {
			return err
		}
		if tries.Add(1)%2 == 0 {
			return outbox.RetryAfter(0, errDown)
		}
		return nil
	})
	f.check(f.Run(f.ctx()))
	f.effects(5)
	done, err := engine.Collect(f.List(f.ctx(), inbox.ListOptions{Status: inbox.Done}), 100)
	f.check(err)
	if len(done) != 5 {
		t.Fatalf("%d are done", len(done))
	}
}

// D-53, D-56
func TestQueueDead(t *testing.T) { dbtest.Each(t, testQueueDead) }

func testQueueDead(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 3, Delay: func(int) time.Duration { return 0 }}})
	for _, id := range []string{"a", "b"} {
		m := message(id)
		m.Topic = id
		_, err := f.Enqueue(f.ctx(), m)
		f.check(err)
	}
	f.HandleInbox("a", func(context.Context, *inbox.Message) error { return outbox.RetryAfter(0, errDown) })
	f.HandleInboxTx("b", func(context.Context, outbox.Tx, *inbox.Message) error { return outbox.RetryAfter(0, errDown) })
	f.check(f.Run(f.ctx()))
	f.state(key("a"), inbox.Dead, 4, 3)
	f.state(key("b"), inbox.Dead, 4, 3)
	box := parts.NewOutbox(f.db.DB, worker.Options{})
	if c, err := box.Count(f.ctx()); err != nil || c.Failed != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
}

// D-52, D-56
func TestQueueRevive(t *testing.T) { dbtest.Each(t, testQueueRevive) }

func testQueueRevive(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	_, err := f.Enqueue(f.ctx(), message("a"))
	f.check(err)
	f.HandleInbox("paid", func(context.Context, *inbox.Message) error { return outbox.Permanent(errDown) })
	f.check(f.Run(f.ctx()))
	f.state(key("a"), inbox.Dead, 2, 1)
	if revived, err := f.Revive(f.ctx(), key("a")); !revived || err != nil {
		t.Fatal(revived, err)
	}
	again := f.another()
	again.HandleInbox("paid", func(context.Context, *inbox.Message) error { return nil })
	f.check(again.Run(f.ctx()))
	f.state(key("a"), inbox.Done, 3, 1)
}

// D-51: dealt with directly, a message is not handled a second time.
func TestQueueAndOnce(t *testing.T) { dbtest.Each(t, testQueueAndOnce) }

func testQueueAndOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	_, err := f.Enqueue(f.ctx(), message("a"))
	f.check(err)
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	f.HandleInboxTx("paid", func(ctx context.Context, tx outbox.Tx, m *inbox.Message) error { return f.effect(ctx, tx, "again") })
	f.check(f.Run(f.ctx()))
	f.effects(1)
}

// D-56, D-400: what others put into the queue fails after the handler's attempts and says why.
func TestQueueForeign(t *testing.T) { dbtest.Each(t, testQueueForeign) }

func testQueueForeign(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	box := parts.NewOutbox(f.db.DB, worker.Options{})
	id, err := box.Enqueue(f.ctx(), outbox.Message{Topic: "paid", Queue: "inbox"})
	f.check(err)
	f.HandleInbox("paid", func(context.Context, *inbox.Message) error { return errors.New("handled") },
		outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}})
	f.check(f.Run(f.ctx()))
	got, err := box.Get(f.ctx(), id)
	f.check(err)
	tried, err := box.Operator(access.Key{}).Attempts(f.ctx(), got.Position)
	f.check(err)
	if got.Status != outbox.Failed || len(tried) != 2 || !strings.Contains(got.LastError, "not a message of the inbox") {
		t.Fatalf("%v after %d attempts: %q", got.Status, len(tried), got.LastError)
	}
}

// D-56: without handlers there is nothing to run but the clean-up.
func TestQueueIdle(t *testing.T) { dbtest.Each(t, testQueueIdle) }

func testQueueIdle(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ctx, cancel := context.WithTimeout(f.ctx(), 50*time.Millisecond)
	defer cancel()
	f.check(f.Run(ctx))
}

// D-15, D-53: a handler's own policy and timeout hold in the inbox as in the outbox.
func TestHandlerOptions(t *testing.T) { dbtest.Each(t, testHandlerOptions) }

func testHandlerOptions(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 5, Delay: func(int) time.Duration { return 0 }}})
	for _, id := range []string{"once", "twice", "slow"} {
		m := message(id)
		m.Topic = id
		_, err := f.Enqueue(f.ctx(), m)
		f.check(err)
	}
	attempts := func(n int) outbox.HandlerOptions {
		return outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: n, Delay: func(int) time.Duration { return 0 }}, Timeout: time.Minute}
	}
	f.HandleInbox("once", func(context.Context, *inbox.Message) error { return outbox.RetryAfter(0, errDown) }, attempts(1))
	f.HandleInboxTx("twice", func(context.Context, outbox.Tx, *inbox.Message) error { return outbox.RetryAfter(0, errDown) }, attempts(2))
	f.HandleInbox("slow", func(ctx context.Context, _ *inbox.Message) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("no timeout")
		}
		<-ctx.Done()
		return outbox.Permanent(ctx.Err())
	}, outbox.HandlerOptions{Timeout: 20 * time.Millisecond})
	f.check(f.Run(f.ctx()))
	f.state(key("once"), inbox.Dead, 2, 1)
	f.state(key("twice"), inbox.Dead, 3, 2)
	f.state(key("slow"), inbox.Dead, 2, 1)
}

// An invalid policy of a handler is reported by Run.
func TestHandlerOptionsInvalid(t *testing.T) { dbtest.Each(t, testHandlerOptionsInvalid) }

func testHandlerOptionsInvalid(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.HandleInbox("t", func(context.Context, *inbox.Message) error { return nil }, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: -1}})
	if err := f.Run(f.ctx()); !errors.Is(err, engine.ErrInvalid) {
		t.Fatalf("want ErrInvalid, got %v", err)
	}
}
