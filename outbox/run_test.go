package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// start runs the outbox until the test stops it.
func (f *fixture) start() (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				f.t.Errorf("Run: %v", err)
			}
		})
	}
	f.t.Cleanup(stop)
	return stop
}

// quick makes everything that waits wait less.
func quick(o worker.Options) worker.Options {
	if o.Retry == nil {
		o.Retry = &worker.RetryPolicy{MaxAttempts: 3, Delay: func(int) time.Duration { return time.Millisecond }}
	}
	o.PollInterval = 20 * time.Millisecond
	return o
}

func (f *fixture) handle(topic string, fn func(ctx context.Context, m *outbox.Message) error) {
	f.Handle(topic, fn)
}

func (f *fixture) untilStatus(id outbox.Position, want outbox.Status) *outbox.Info {
	f.t.Helper()
	dbtest.Until(f.t, fmt.Sprintf("message %d is %v", id, want), func() bool { return f.get(id).Status == want })
	return f.get(id)
}

// OBX-054, OBX-060, D-22
func TestRunRoutes(t *testing.T) { dbtest.Each(t, testRunRoutes) }

func testRunRoutes(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{StopWhenEmpty: true})
	var mu sync.Mutex
	got := map[string][]string{}
	for _, topic := range []string{"a", "A", "b"} {
		f.handle(topic, func(_ context.Context, m *outbox.Message) error {
			mu.Lock()
			defer mu.Unlock()
			got[topic] = append(got[topic], m.Topic)
			return nil
		})
	}
	for _, topic := range []string{"a", "b", "a", "A"} {
		f.enqueue(outbox.Message{Topic: topic})
	}
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "map[A:[A] a:[a a] b:[b]]" {
		t.Fatalf("delivered %v", got)
	}
	f.counts(outbox.Counts{Done: 4})
}

// OBX-057
func TestRunGivesWholeMessage(t *testing.T) { dbtest.Each(t, testRunGivesWholeMessage) }

func testRunGivesWholeMessage(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{StopWhenEmpty: true})
	var got *outbox.Message
	f.handle("t", func(ctx context.Context, m *outbox.Message) error {
		if ctx.Err() != nil {
			t.Error("the handler's context has ended")
		}
		got = m
		return nil
	})
	id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Payload: []byte("p"), CorrelationID: "c", Headers: map[string]string{"k": "v"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if got.ID != id || string(got.Payload) != "p" || got.CorrelationID != "c" || got.Headers["k"] != "v" || got.CreatedAt.IsZero() || got.Position == 0 || got.Queue != "default" {
		t.Fatalf("the handler got %+v", got)
	}
}

// OBX-056, OBX-058, OBX-061, OBX-063, OBX-064, OBX-065, D-15
func TestRunRetriesAndFails(t *testing.T) { dbtest.Each(t, testRunRetriesAndFails) }

func testRunRetriesAndFails(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	var calls, attempts atomic.Int64
	f.handle("t", func(_ context.Context, m *outbox.Message) error {
		calls.Add(1)
		attempts.Store(int64(m.RetryCount + 1))
		return fmt.Errorf("attempt %d", m.RetryCount+1)
	})
	id := f.enqueue(outbox.Message{})
	f.start()
	got := f.untilStatus(id, outbox.Failed)
	if calls.Load() != 3 || attempts.Load() != 3 || got.RetryCount != 2 || got.LastError != "attempt 3" {
		t.Fatalf("%d calls, %+v", calls.Load(), got)
	}
}

// D-15
func TestRunOutcomes(t *testing.T) { dbtest.Each(t, testRunOutcomes) }

func testRunOutcomes(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	var snoozed atomic.Int64
	f.handle("permanent", func(context.Context, *outbox.Message) error {
		return fmt.Errorf("wrapped: %w", outbox.Permanent(errors.New("no such account")))
	})
	f.handle("after", func(context.Context, *outbox.Message) error { return outbox.RetryAfter(time.Hour, errors.New("busy")) })
	f.handle("late", func(context.Context, *outbox.Message) error {
		return outbox.RetryAfter(math.MaxInt64, errors.New("not in this life"))
	})
	f.handle("panic", func(context.Context, *outbox.Message) error { panic("boom") })
	f.handle("snooze", func(context.Context, *outbox.Message) error {
		if snoozed.Add(1) <= 5 {
			return outbox.Snooze(time.Millisecond)
		}
		return nil
	})
	ids := map[string]outbox.Position{}
	for _, topic := range []string{"permanent", "after", "late", "panic", "snooze"} {
		ids[topic] = f.enqueue(outbox.Message{Topic: topic})
	}
	f.start()
	if got := f.untilStatus(ids["permanent"], outbox.Failed); got.RetryCount != 0 || !strings.Contains(got.LastError, "no such account") {
		t.Fatalf("permanent: %+v", got)
	}
	if got := f.untilStatus(ids["panic"], outbox.Failed); got.LastError != "panic: boom" {
		t.Fatalf("panic: %+v", got)
	}
	if got := f.untilStatus(ids["snooze"], outbox.Done); got.RetryCount != 0 {
		t.Fatalf("snooze counted %d attempts", got.RetryCount)
	}
	dbtest.Until(t, "the retry is put off", func() bool { return f.get(ids["after"]).RetryCount == 1 })
	if got := f.get(ids["after"]); got.NextAttemptAt.Sub(got.CreatedAt) < 30*time.Minute || got.LastError != "busy" {
		t.Fatalf("after: %+v", got)
	}
	dbtest.Until(t, "the longest delay is kept", func() bool {
		return f.get(ids["late"]).NextAttemptAt.After(f.get(ids["late"]).CreatedAt.AddDate(289, 0, 0))
	})
}

// OBX-063, OBX-065, D-14
func TestRunPolicies(t *testing.T) { dbtest.Each(t, testRunPolicies) }

func testRunPolicies(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	var once, many atomic.Int64
	at := func(int) time.Duration { return time.Millisecond }
	f.Handle("once", func(context.Context, *outbox.Message) error { once.Add(1); return errors.New("no") },
		outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 1}})
	f.Handle("unlimited", func(context.Context, *outbox.Message) error {
		if many.Add(1) < 15 {
			return errors.New("not yet")
		}
		return nil
	}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 0, Delay: at}})
	a, b := f.enqueue(outbox.Message{Topic: "once"}), f.enqueue(outbox.Message{Topic: "unlimited"})
	f.start()
	f.untilStatus(a, outbox.Failed)
	if got := f.untilStatus(b, outbox.Done); once.Load() != 1 || many.Load() != 15 || got.RetryCount != 14 {
		t.Fatalf("once ran %d, unlimited %d: %+v", once.Load(), many.Load(), got)
	}
}

// OBX-055, D-17
func TestRunNoHandler(t *testing.T) { dbtest.Each(t, testRunNoHandler) }

func testRunNoHandler(t *testing.T, e dbtest.Engine) {
	var log lines
	f := open(t, e, quick(worker.Options{Logger: log.logger()}))
	f.handle("known", func(context.Context, *outbox.Message) error { return nil })
	var ids []outbox.Position
	for range 3 {
		ids = append(ids, f.enqueue(outbox.Message{Topic: "forgotten"}))
	}
	f.start()
	dbtest.Until(t, "all were looked at", func() bool { return f.Component().Stats().Unhandled >= 3 })
	dbtest.Until(t, "all are put back", func() bool { c, err := f.Count(f.ctx()); return err == nil && c.Scheduled == 3 })
	for _, id := range ids {
		if got := f.get(id); got.RetryCount != 0 || got.LastError != "" {
			t.Fatalf("a message without handler burnt attempts: %+v", got)
		}
	}
	if n := log.count("no handler for topic"); n != 1 {
		t.Fatalf("warned %d times", n)
	}
}

// D-27
func TestRunJSON(t *testing.T) { dbtest.Each(t, testRunJSON) }

func testRunJSON(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	type order struct {
		Number int `json:"number"`
	}
	var got atomic.Int64
	pawl.NewTopic[order]("order").Handle(f, func(_ context.Context, d *pawl.Delivery[order]) error { got.Add(int64(d.Body.Number)); return nil })
	good := f.enqueue(outbox.Message{Topic: "order", Payload: []byte(`{"number":42}`)})
	var bad []outbox.Position
	for _, payload := range []string{`{"number":"secret-value"}`, `secret-value`, ``} {
		bad = append(bad, f.enqueue(outbox.Message{Topic: "order", Payload: []byte(payload)}))
	}
	f.start()
	f.untilStatus(good, outbox.Done)
	for _, id := range bad {
		if info := f.untilStatus(id, outbox.Failed); info.RetryCount != 2 || strings.Contains(info.LastError, "secret") {
			t.Fatalf("an unreadable payload: %+v", info)
		}
	}
	if got.Load() != 42 {
		t.Fatalf("handled %d", got.Load())
	}
}

func TestRunMiddleware(t *testing.T) { dbtest.Each(t, testRunMiddleware) }

func testRunMiddleware(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{StopWhenEmpty: true})
	var mu sync.Mutex
	var order []string
	wrap := func(name string) outbox.Middleware {
		return func(next outbox.Handler) outbox.Handler {
			return func(ctx context.Context, m *outbox.Message) error {
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				return next(ctx, m)
			}
		}
	}
	f.Use(wrap("outer"))
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	f.Use(wrap("inner"))
	f.enqueue(outbox.Message{})
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(order) != "[outer inner]" {
		t.Fatalf("order %v", order)
	}
}

// D-6
func TestRunTimeout(t *testing.T) { dbtest.Each(t, testRunTimeout) }

func testRunTimeout(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	f.Handle("t", func(ctx context.Context, _ *outbox.Message) error {
		<-ctx.Done()
		return ctx.Err()
	}, outbox.HandlerOptions{Timeout: 5 * time.Millisecond})
	id := f.enqueue(outbox.Message{})
	f.start()
	if got := f.untilStatus(id, outbox.Failed); !strings.Contains(got.LastError, "deadline") {
		t.Fatalf("a timed-out message: %+v", got)
	}
}

// D-495: a handler that ignores its time-out is logged and counted until it returns, by itself and as a batch.
func TestRunOverdue(t *testing.T) {
	t.Parallel()
	var log lines
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite}, quick(worker.Options{Logger: log.logger()}))
	release := make(chan struct{})
	stuck := outbox.HandlerOptions{Timeout: time.Millisecond}
	f.Handle("one", func(context.Context, *outbox.Message) error { <-release; return nil }, stuck)
	f.HandleBatch("two", func(_ context.Context, m []*outbox.Message) []error { <-release; return make([]error, len(m)) }, outbox.BatchOptions{Max: 2, Wait: time.Minute}, stuck)
	for _, topic := range []string{"one", "two", "two"} {
		f.enqueue(outbox.Message{Topic: topic})
	}
	f.start()
	component := f.Component()
	dbtest.Until(t, "all are overdue", func() bool { return len(component.Overdue()) == 3 })
	for _, want := range [][]string{{"topic=one", "count=1"}, {"topic=two", "count=2"}} {
		dbtest.Until(t, fmt.Sprintf("a line has %s", want), func() bool { // it is counted before
			return log.find(append(want, "level=WARN", "handler has not returned long after its time-out")...) != ""
		})
	}
	close(release)
	dbtest.Until(t, "all have returned", func() bool { return len(component.Overdue()) == 0 })
}

// D-22
func TestRunRegistration(t *testing.T) { dbtest.Each(t, testRunRegistration) }

func testRunRegistration(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	nop := func(context.Context, *outbox.Message) error { return nil }
	f.Handle("twice", nop)
	f.Handle("twice", nop)
	f.Handle("", nop)
	f.Handle("nil", nil)
	err := f.Run(f.ctx())
	if err == nil || !strings.Contains(err.Error(), "duplicate handler") || !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), `"twice"`) || !strings.Contains(err.Error(), `"nil"`) {
		t.Fatalf("want all mistakes named, got %v", err)
	}
}

// D-100, OBX-109
func TestRunSchemaMissing(t *testing.T) { dbtest.Each(t, testRunSchemaMissing) }

func testRunSchemaMissing(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if _, err := f.db.SQL.ExecContext(f.ctx(), "DROP TABLE "+f.db.Table("pawl_schema")); err != nil {
		t.Fatal(err)
	}
	if err := f.Run(f.ctx()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Fatalf("want ErrSchemaMissing, got %v", err)
	}
}

// slow polls so rarely that only a wake-up can explain a delivery.
func slow() worker.Options { return worker.Options{PollInterval: time.Hour} }

// deliver starts f, waits until it sleeps, and calls enqueue; the message must
// arrive although no poll is near.
func deliver(t *testing.T, f *fixture, enqueue func() error) {
	t.Helper()
	got := make(chan string, 1)
	f.handle("t", func(_ context.Context, m *outbox.Message) error { got <- string(m.Payload); return nil })
	f.handle("first", func(context.Context, *outbox.Message) error { return nil })
	f.start()
	f.untilStatus(f.enqueue(outbox.Message{Topic: "first"}), outbox.Done)
	for range 20 { // also when it just went to sleep, and when it slept for a while
		if err := enqueue(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-got:
		case <-time.After(2 * time.Minute):
			t.Fatal("the worker was not woken")
		}
	}
}

// OBX-122
func TestRunIsWoken(t *testing.T) { dbtest.Each(t, testRunIsWoken) }

func testRunIsWoken(t *testing.T, e dbtest.Engine) {
	f := open(t, e, slow())
	deliver(t, f, func() error {
		_, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
		return err
	})
}

// OBX-100
func TestRunIsWokenAcross(t *testing.T) { dbtest.Each(t, testRunIsWokenAcross) }

func testRunIsWokenAcross(t *testing.T, e dbtest.Engine) {
	f := open(t, e, slow())
	other := parts.NewOutbox(f.db.Another(t), worker.Options{})
	deliver(t, f, func() error {
		_, err := other.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
		return err
	})
}

// OBX-003
func TestRunIsWokenByTransaction(t *testing.T) { dbtest.Each(t, testRunIsWokenByTransaction) }

func testRunIsWokenByTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{PollInterval: 250 * time.Millisecond}) // an open transaction may hide from a waiter: one poll finds it
	deliver(t, f, func() error {
		tx := f.begin()
		if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t"}); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// longLease is that of the test of long handlers: they outlast it.
const longLease = 3 * time.Second

// D-18: a handler more than twice as long as the lease runs once. Who stands still for
// most of the lease does lose it, and says nothing about this.
func TestRunLongHandler(t *testing.T) { dbtest.Each(t, testRunLongHandler) }

func testRunLongHandler(t *testing.T, e dbtest.Engine) {
	for tries := 1; ; tries++ {
		longest := dbtest.WatchStalls()
		calls, got := runLong(t, e)
		stall := longest()
		if calls == 1 && got.RetryCount == 0 {
			return
		}
		if stall < longLease/2 || tries == 3 {
			t.Fatalf("ran %d times: %+v", calls, got)
		}
		t.Logf("again: the machine stood still for %v", stall)
	}
}

// runLong handles one message for longer than its lease, while a rival waits for it.
func runLong(t *testing.T, e dbtest.Engine) (calls int64, got *outbox.Info) {
	f := open(t, e, quick(worker.Options{Lease: longLease}))
	var ran atomic.Int64
	f.handle("t", func(ctx context.Context, _ *outbox.Message) error {
		ran.Add(1)
		return engine.Sleep(ctx, 7*time.Second)
	})
	id := f.enqueue(outbox.Message{})
	rival := parts.NewOutbox(f.db.Another(t), quick(worker.Options{Lease: longLease}))
	rival.Handle("t", func(context.Context, *outbox.Message) error { ran.Add(1); return nil })
	defer f.start()()
	dbtest.Until(t, "the handler runs", func() bool { return ran.Load() > 0 })
	other := &fixture{Outbox: rival, t: t, db: f.db}
	defer other.start()()
	got = f.untilStatus(id, outbox.Done)
	return ran.Load(), got
}

// OBX-053, D-12: nobody calls reap.
func TestRunTakesOverFromCrashed(t *testing.T) { dbtest.Each(t, testRunTakesOverFromCrashed) }

func testRunTakesOverFromCrashed(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	f.enqueueN(3)
	f.claimShort(3) // and is never heard of again
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	f.start()
	f.db.Pass(short + 20*time.Millisecond)
	dbtest.Until(t, "all are done", func() bool { c, err := f.Count(f.ctx()); return err == nil && c.Done == 3 })
	if n := f.Component().Stats().Reaped; n != 3 {
		t.Fatalf("reaped %d", n)
	}
}

// D-11, D-12: what a crashed worker held is due, also for who will not wait.
func TestDrainTakesOverFromCrashed(t *testing.T) { dbtest.Each(t, testDrainTakesOverFromCrashed) }

func testDrainTakesOverFromCrashed(t *testing.T, e dbtest.Engine) {
	o := quick(worker.Options{StopWhenEmpty: true})
	o.PollInterval = time.Hour
	f := open(t, e, o)
	f.enqueueN(3)
	f.claimShort(3)
	f.db.Pass(short + 20*time.Millisecond)
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	f.counts(outbox.Counts{Done: 3})
}

// D-19: what had started when Run was stopped is finished, and the rest is back
// as if nothing had been.
func TestRunStopsGracefully(t *testing.T) { dbtest.Each(t, testRunStopsGracefully) }

func testRunStopsGracefully(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{Concurrency: 2, Lease: time.Hour, Grace: 20 * time.Second})
	var begun atomic.Int64
	running, finish := make(chan struct{}, 10), make(chan struct{})
	f.handle("t", func(context.Context, *outbox.Message) error {
		begun.Add(1)
		running <- struct{}{}
		<-finish
		return nil
	})
	f.enqueueN(10)
	stop := f.start()
	<-running
	<-running
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	dbtest.Until(t, "what was not begun is back", func() bool { c, err := f.Count(f.ctx()); return err == nil && c.Ready == 8 })
	close(finish)
	<-stopped
	n := begun.Load() // the news of the stop may come after the first two have ended
	f.counts(outbox.Counts{Ready: 10 - n, Done: n})
}

// OBX-100, OBX-101
func TestRunManyWorkers(t *testing.T) { dbtest.Each(t, testRunManyWorkers) }

func testRunManyWorkers(t *testing.T, e dbtest.Engine) {
	const total, workers = 3000, 8
	db := e.Open(t)
	var mu sync.Mutex
	seen := map[outbox.MessageID]int{}
	var all []*fixture
	for range workers {
		o := parts.NewOutbox(db.Another(t), quick(worker.Options{Concurrency: 4}))
		f := &fixture{Outbox: o, t: t, db: db}
		f.handle("t", func(_ context.Context, m *outbox.Message) error {
			mu.Lock()
			defer mu.Unlock()
			seen[m.ID]++
			return nil
		})
		f.start()
		all = append(all, f)
	}
	for range total / 100 {
		all[0].enqueueBatch(100)
	}
	dbtest.Until(t, "all are done", func() bool { c, err := all[0].Count(t.Context()); return err == nil && c.Done == total })
	mu.Lock()
	defer mu.Unlock()
	for id, times := range seen {
		if times != 1 {
			t.Fatalf("message %v was handled %d times", id, times)
		}
	}
	if len(seen) != total {
		t.Fatalf("handled %d of %d messages", len(seen), total)
	}
}

func TestRunServesQueues(t *testing.T) { dbtest.Each(t, testRunServesQueues) }

func testRunServesQueues(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{Queues: []string{"a", "b"}, StopWhenEmpty: true})
	var n atomic.Int64
	f.handle("t", func(context.Context, *outbox.Message) error { n.Add(1); return nil })
	for _, q := range []string{"a", "b", "c", ""} {
		f.enqueue(outbox.Message{Queue: q})
	}
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	f.counts(outbox.Counts{Done: 2, Ready: 2})
}

// D-12: a message whose workers all die fails in the end, without running again.
func TestRunFailsWhatKillsItsWorker(t *testing.T) { dbtest.Each(t, testRunFailsWhatKillsItsWorker) }

func testRunFailsWhatKillsItsWorker(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	id := f.enqueue(outbox.Message{})
	for range 1 + 3 { // the first is not counted
		f.claimShort(1)
		f.db.Pass(short + 20*time.Millisecond)
		f.touched(1)(f.WorkQueue("").ReapExpired(f.ctx()))
	}
	f.handle("t", func(context.Context, *outbox.Message) error { t.Error("it ran again"); return nil })
	f.start()
	if got := f.untilStatus(id, outbox.Failed); got.RetryCount != 3 || !strings.Contains(got.LastError, "lease expired") {
		t.Fatalf("failed as %+v", got)
	}
}

// OBX-059
func TestRunNeverConcurrentlyForOneMessage(t *testing.T) {
	dbtest.Each(t, testRunNeverConcurrentlyForOneMessage)
}

func testRunNeverConcurrentlyForOneMessage(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{Concurrency: 16, Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 0 }}}))
	var busy sync.Map
	f.handle("t", func(_ context.Context, m *outbox.Message) error {
		if _, twice := busy.LoadOrStore(m.ID, true); twice {
			t.Errorf("message %v is handled twice at once", m.ID)
		}
		defer busy.Delete(m.ID)
		if m.RetryCount < 5 {
			return errors.New("again")
		}
		return nil
	})
	f.enqueueBatch(50)
	f.start()
	dbtest.Until(t, "all are done", func() bool { c, err := f.Count(f.ctx()); return err == nil && c.Done == 50 })
}
