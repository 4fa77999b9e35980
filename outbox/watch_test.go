package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/outboxtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func observe(o *parts.Outbox, w *outboxtest.Watcher) {
	seen := w.Observer()
	o.Component().Observe(&seen)
}

// watched is a fixture whose observer sees everything.
func watched(t *testing.T, e dbtest.Engine, o worker.Options) (*fixture, *outboxtest.Watcher) {
	t.Helper()
	f, w := open(t, e, quick(o)), outboxtest.NewWatcher()
	observe(f.Outbox, w)
	return f, w
}

// However a message is enqueued, it is counted once, in its queue and topic.
func TestObserveEnqueued(t *testing.T) { dbtest.Each(t, testObserveEnqueued) }

func testObserveEnqueued(t *testing.T, e dbtest.Engine) {
	f, w := watched(t, e, worker.Options{})
	f.enqueue(outbox.Message{Topic: "single"})
	batch := []outbox.Message{{Topic: "a"}, {Topic: "a"}, {Topic: "b"}, {Topic: "a"}, {Topic: "a", Queue: "other"}}
	if _, err := f.EnqueueBatch(f.ctx(), batch); err != nil {
		t.Fatal(err)
	}
	tx := f.begin()
	defer tx.Rollback()
	if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "tx", Queue: "other"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.EnqueueBatchTx(f.ctx(), tx, []outbox.Message{{Topic: "tx", Queue: "other"}, {Topic: "tx"}}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Enqueue(f.ctx(), outbox.Message{Topic: ""}); err == nil {
		t.Fatal("no error")
	}
	if _, err := f.EnqueueBatch(f.ctx(), nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"default/single": 1, "default/a": 3, "default/b": 1, "other/a": 1, "other/tx": 2, "default/tx": 1}
	many := make([]outbox.Message, 70) // more topics than are added up at once
	for i := range many {
		many[i].Topic = fmt.Sprintf("of many %d", i%35)
		want["default/"+many[i].Topic]++
	}
	if _, err := f.EnqueueBatch(f.ctx(), many); err != nil {
		t.Fatal(err)
	}
	if got := w.Messages(); !maps.Equal(got, want) {
		t.Fatalf("notified of %v, want %v", got, want)
	}
}

// Each attempt ends in one outcome, and it is the one that came of it.
func TestObserveOutcomes(t *testing.T) { dbtest.Each(t, testObserveOutcomes) }

func testObserveOutcomes(t *testing.T, e dbtest.Engine) {
	f, w := watched(t, e, worker.Options{StopWhenEmpty: true})
	twice := func(err error) func(context.Context, *outbox.Message) error {
		n := 0
		return func(context.Context, *outbox.Message) error {
			if n++; n == 1 {
				return err
			}
			return nil
		}
	}
	f.handle("acked", func(context.Context, *outbox.Message) error { return nil })
	f.handle("failed", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) })
	f.handle("retried", twice(outbox.RetryAfter(0, errors.New("busy"))))
	f.handle("snoozed", twice(outbox.Snooze(0)))
	f.handle("panics", func(context.Context, *outbox.Message) error { panic("boom") })
	f.handle("settled", func(ctx context.Context, m *outbox.Message) error {
		if _, err := f.WorkQueue("").Ack(ctx, m.Owner, m.Position); err != nil {
			return err
		}
		return worker.ErrSettled
	})
	f.handle("paused", func(context.Context, *outbox.Message) error { return nil })
	if _, err := f.Pauses().Pause(f.ctx(), pause.Topic, "paused", ""); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"acked": "[acked 0]", "failed": "[failed 0]", "retried": "[retried 0] [acked 1]", "snoozed": "[snoozed 0] [acked 0]", "settled": "[settled 0]",
		"paused": "[paused 0]", "panics": "[retried 0] [retried 1] [failed 2]", "unhandled": "[unhandled 0]",
	}
	for topic := range want {
		f.enqueue(outbox.Message{Topic: topic})
	}
	ended := func() bool { return len(w.Attempts("panics")) == 3 }
	for !ended() { // a drain does not wait for what is put off
		if err := f.Run(f.ctx()); err != nil {
			t.Fatal(err)
		}
	}
	for topic, outcomes := range want {
		var got []string
		for _, a := range w.Attempts(topic) {
			got = append(got, fmt.Sprintf("[%v %d]", a.Outcome, a.Retry))
			ran := a.Outcome != worker.OutcomePaused
			if a.Queue != outbox.DefaultQueue || a.Scheduled || a.Body.(*outbox.Message).Topic != topic || (a.Took > 0) != ran || a.Took < 0 {
				t.Errorf("%s: %+v", topic, a)
			}
		}
		if topic == "unhandled" && len(got) > 1 {
			got = got[:1] // it is put back again and again
		}
		if strings.Join(got, " ") != outcomes {
			t.Errorf("%s: %v, want %s", topic, got, outcomes)
		}
	}
	if n := w.Claims(outbox.DefaultQueue); n < 8 {
		t.Errorf("notified of %d claims", n)
	}
}

// What an attempt says of times: how long it waited, if it is the first, and how
// long its handler took.
func TestObserveAttempts(t *testing.T) { dbtest.Each(t, testObserveAttempts) }

func testObserveAttempts(t *testing.T, e dbtest.Engine) {
	f, w := watched(t, e, worker.Options{StopWhenEmpty: true, Queues: []string{"other"}, Concurrency: 1, Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 0 }}})
	const took = 20 * time.Millisecond
	f.handle("t", func(_ context.Context, m *outbox.Message) error {
		time.Sleep(took)
		if m.RetryCount == 0 {
			return outbox.RetryAfter(0, errors.New("busy"))
		}
		return nil
	})
	due := time.Now().Add(-time.Hour)
	f.enqueue(outbox.Message{Queue: "other", Due: due, Topic: "t"})
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	all := w.Attempts("t")
	if len(all) != 2 {
		t.Fatalf("notified of %+v", all)
	}
	first, second := all[0], all[1]
	if first.Queue != "other" || !first.Scheduled || first.Took < took || first.Waited > 2*time.Hour || second.Waited != 0 || second.Took < took || second.Retry != 1 {
		t.Fatalf("notified of %+v", all)
	}
	if _, err := f.Enqueue(f.ctx(), outbox.Message{Queue: "other", Topic: "late"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(took)
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if late := w.Attempts("late"); len(late) == 0 || late[0].Waited < took || late[0].Scheduled {
		t.Fatalf("notified of %+v", late)
	}
}

// What kills its workers fails without a handler.
func TestObserveExhausted(t *testing.T) { dbtest.Each(t, testObserveExhausted) }

func testObserveExhausted(t *testing.T, e dbtest.Engine) {
	f, w := watched(t, e, worker.Options{StopWhenEmpty: true})
	f.handle("t", func(context.Context, *outbox.Message) error { t.Error("it ran"); return nil })
	id := f.enqueue(outbox.Message{})
	for range 3 {
		owner, _ := f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, nil), id))
	}
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	all := w.Attempts("t")
	if len(all) != 1 || all[0].Outcome != worker.OutcomeFailed || all[0].Took != 0 || all[0].Retry != 3 {
		t.Fatalf("notified of %+v", all)
	}
}

// Who loses a lease hears that it is lost; what is given back at a stop, or given
// up after it, was released, whatever its handler says in the end.
func TestObserveLostAndReleased(t *testing.T) { dbtest.Each(t, testObserveLostAndReleased) }

func testObserveLostAndReleased(t *testing.T, e dbtest.Engine) {
	// The lease outlasts the stop, which waits for a handler for two seconds; a loss shows after a third of it.
	f, w := watched(t, e, worker.Options{Concurrency: 2, Lease: 9 * time.Second, Grace: time.Millisecond})
	begun, let := make(chan struct{}, 10), make(chan struct{})
	f.handle("lost", func(ctx context.Context, _ *outbox.Message) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	f.handle("stops", func(ctx context.Context, _ *outbox.Message) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	f.handle("stays", func(context.Context, *outbox.Message) error {
		begun <- struct{}{}
		<-let
		return nil
	})
	id := f.enqueue(outbox.Message{Topic: "lost"})
	stop := f.start()
	<-begun
	query := "DELETE FROM " + f.db.Table("outbox_claim") // as if another had reaped and handled it
	if _, err := f.db.SQL.ExecContext(f.ctx(), query); err != nil {
		t.Fatal(err)
	}
	dbtest.Until(t, "the loss is known", func() bool { return len(w.Attempts("lost")) > 0 })
	if all := w.Attempts("lost"); len(all) != 1 || all[0].Outcome != worker.OutcomeLost || all[0].Body.(*outbox.Message).Position != id {
		t.Errorf("notified of %+v", all)
	}
	f.enqueue(outbox.Message{Topic: "stops"})
	<-begun
	f.enqueue(outbox.Message{Topic: "stays"})
	<-begun
	stop()
	if all := w.Attempts("stops"); len(all) != 1 || all[0].Outcome != worker.OutcomeReleased {
		t.Errorf("notified of %+v", all)
	}
	close(let)
	dbtest.Until(t, "the last handler ends", func() bool { return len(w.Attempts("stays")) > 0 })
	if all := w.Attempts("stays"); len(all) != 1 || all[0].Outcome != worker.OutcomeReleased {
		t.Errorf("notified of %+v", all)
	}
	f.counts(outbox.Counts{Ready: 2})
}

// D-443: of a settlement that was taken in part, the acks that were taken are reported as such, and the
// others as lost.
func TestObserveOutcomesOneByOne(t *testing.T) { dbtest.Each(t, testObserveOutcomesOneByOne) }

func testObserveOutcomesOneByOne(t *testing.T, e dbtest.Engine) {
	f, w := watched(t, e, worker.Options{StopWhenEmpty: true})
	var given, handled atomic.Int32
	f.HandleBatch("t", func(ctx context.Context, all []*outbox.Message) []error {
		if handled.Add(1) > 1 {
			return make([]error, len(all))
		}
		for i, m := range all {
			if i%3 == 0 { // as if it had been reaped
				given.Add(1)
				f.touched(1)(f.Release(ctx, m.Owner, m.Position))
			}
		}
		return make([]error, len(all))
	}, outbox.BatchOptions{Max: 100, Wait: time.Second})
	f.enqueueN(30)
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	got := map[worker.Outcome]int{}
	for _, a := range w.Attempts("t") {
		got[a.Outcome]++
	}
	if got[worker.OutcomeAcked] != 30 || got[worker.OutcomeLost] != int(given.Load()) {
		t.Errorf("%d acks that were not taken, reported %v", given.Load(), got)
	}
	f.counts(outbox.Counts{Done: 30})
}

// D-315: an outcome that the database did not take, because somebody else has the message, is
// reported as lost, whatever the handler returned.
func TestObserveLateOutcomes(t *testing.T) { dbtest.Each(t, testObserveLateOutcomes) }

func testObserveLateOutcomes(t *testing.T, e dbtest.Engine) {
	for name, returned := range map[string]error{"acked": nil, "failed": outbox.Permanent(errors.New("no")), "retried": errors.New("not yet")} {
		t.Run(name, func(t *testing.T) {
			f, w := watched(t, e, worker.Options{StopWhenEmpty: true})
			f.handle("late", func(context.Context, *outbox.Message) error {
				_, err := f.db.SQL.ExecContext(f.ctx(), "DELETE FROM "+f.db.Table("outbox_claim")) // as if another had reaped and handled it
				return errors.Join(err, returned)
			})
			f.handle("well", func(context.Context, *outbox.Message) error { return nil })
			f.enqueue(outbox.Message{Topic: "late"})
			if err := f.Run(f.ctx()); err != nil {
				t.Fatal(err)
			}
			f.enqueue(outbox.Message{Topic: "well"})
			if err := f.Run(f.ctx()); err != nil {
				t.Fatal(err)
			}
			if all := w.Attempts("late"); len(all) != 1 || all[0].Outcome != worker.OutcomeLost {
				t.Errorf("notified of %+v", all)
			}
			if all := w.Attempts("well"); len(all) != 1 || all[0].Outcome != worker.OutcomeAcked {
				t.Errorf("notified of %+v", all)
			}
		})
	}
}

func TestObserveReaped(t *testing.T) { dbtest.Each(t, testObserveReaped) }

func testObserveReaped(t *testing.T, e dbtest.Engine) {
	f, w := watched(t, e, worker.Options{StopWhenEmpty: true})
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	f.enqueueN(3)
	f.claimShort(3)
	f.db.Pass(short + 20*time.Millisecond)
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if w.Reaps() != 3 || w.Claims(outbox.DefaultQueue) != 3 || len(w.Attempts("t")) != 3 {
		t.Fatalf("notified of %d reaped, %d claimed, %+v", w.Reaps(), w.Claims(outbox.DefaultQueue), w.Attempts("t"))
	}
}

func TestSeveralObservers(t *testing.T) { dbtest.Each(t, testSeveralObservers) }

func testSeveralObservers(t *testing.T, e dbtest.Engine) {
	f, w := watched(t, e, worker.Options{StopWhenEmpty: true})
	second := outboxtest.NewWatcher()
	observe(f.Outbox, second)
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	f.enqueue(outbox.Message{})
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	for i, one := range []*outboxtest.Watcher{w, second} {
		if one.Messages()["default/t"] != 1 || one.Claims(outbox.DefaultQueue) != 1 || len(one.Attempts("t")) != 1 {
			t.Errorf("observer %d was notified of %v, %d claimed, %+v", i, one.Messages(), one.Claims(outbox.DefaultQueue), one.Attempts("t"))
		}
	}
}

type traceKey struct{}

func trace(ctx context.Context, m *outbox.Message) map[string]string {
	id, _ := ctx.Value(traceKey{}).(string)
	if id == "" {
		return nil
	}
	return map[string]string{"trace": id, "topic": m.Topic}
}

// headers are those of the message with an id.
func (f *fixture) headers(id outbox.MessageID) map[string]string {
	f.t.Helper()
	return f.find(id).Headers
}

// Stamps are added, and neither change what the caller has nor win over it.
func TestStamps(t *testing.T) { dbtest.Each(t, testStamps) }

func testStamps(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.AddHeaders(trace)
	f.AddHeaders(func(context.Context, *outbox.Message) map[string]string {
		return map[string]string{"trace": "second", "more": "x"}
	})
	ctx := context.WithValue(f.ctx(), traceKey{}, "42")
	own := map[string]string{"k": "v"}
	msg := outbox.Message{Topic: "t", Headers: own}
	for _, c := range []struct {
		ctx  context.Context
		msg  outbox.Message
		want map[string]string
	}{
		{ctx, msg, map[string]string{"k": "v", "trace": "42", "topic": "t", "more": "x"}},
		{ctx, outbox.Message{Topic: "t"}, map[string]string{"trace": "42", "topic": "t", "more": "x"}},
		{f.ctx(), msg, map[string]string{"k": "v", "trace": "second", "more": "x"}},
		{ctx, outbox.Message{Topic: "t", Headers: map[string]string{"trace": "mine", "topic": ""}}, map[string]string{"trace": "mine", "topic": "", "more": "x"}},
	} {
		id, err := f.Enqueue(c.ctx, c.msg)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.headers(id); !maps.Equal(got, c.want) {
			t.Errorf("it carries %v, want %v", got, c.want)
		}
		ids, err := f.EnqueueBatch(c.ctx, []outbox.Message{c.msg, c.msg})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if got := f.headers(id); !maps.Equal(got, c.want) {
				t.Errorf("in a batch it carries %v, want %v", got, c.want)
			}
		}
		tx := f.begin()
		id, err = f.EnqueueTx(c.ctx, tx, c.msg)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := f.headers(id); !maps.Equal(got, c.want) {
			t.Errorf("in a transaction it carries %v, want %v", got, c.want)
		}
	}
	if len(own) != 1 || len(msg.Headers) != 1 {
		t.Fatalf("the caller's headers became %v", own)
	}
}

// Stamps that would make a message too large, or invalid, are left out.
func TestStampsTooLarge(t *testing.T) { dbtest.Each(t, testStampsTooLarge) }

func testStampsTooLarge(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var stamp map[string]string
	f.AddHeaders(func(context.Context, *outbox.Message) map[string]string { return stamp })
	for name, one := range map[string]map[string]string{
		"large": {"trace": strings.Repeat("x", 1<<20)}, "invalid": {"trace": "\xff"}, "no name": {"": "x"}, "NUL": {"a\x00": "x"}, "none": {},
	} {
		stamp = one
		id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Headers: map[string]string{"k": "v"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := f.headers(id); len(got) != 1 || got["k"] != "v" {
			t.Errorf("%s: it carries %d headers", name, len(got))
		}
	}
}

// A batch shares a map of the caller's, which stays the caller's.
func TestStampsConcurrently(t *testing.T) { dbtest.Each(t, testStampsConcurrently) }

func testStampsConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.AddHeaders(trace)
	shared := map[string]string{"k": "v"}
	ended := make(chan error, 8)
	for i := range cap(ended) {
		go func() {
			ctx := context.WithValue(f.ctx(), traceKey{}, fmt.Sprint(i))
			id, err := f.Enqueue(ctx, outbox.Message{Topic: "t", Headers: shared})
			if err == nil {
				var info *outbox.Info
				if info, err = f.Get(ctx, id); err == nil && (info.Headers["trace"] != fmt.Sprint(i) || info.Headers["k"] != "v") {
					err = fmt.Errorf("message of %d carries %v", i, info.Headers)
				}
			}
			ended <- err
		}()
	}
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
