package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// batches notes what a batch handler was called with.
type batches struct {
	mu    sync.Mutex
	calls [][]*outbox.Message
	now   atomic.Int64
	most  atomic.Int64
}

func (b *batches) note(messages []*outbox.Message) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, slices.Clone(messages))
	b.most.Store(max(b.most.Load(), b.now.Add(1)))
	return func() { b.now.Add(-1) }
}

func (b *batches) sizes() (all []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		all = append(all, len(c))
	}
	return all
}

// D-203: messages come together, in the order of their positions and at most as many as allowed, also
// more than handlers run at once, and each has its own result.
func TestHandleBatch(t *testing.T) { dbtest.Each(t, testHandleBatch) }

func testHandleBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{StopWhenEmpty: true, Concurrency: 2})
	ids := f.enqueueN(30)
	var b batches
	f.HandleBatch("t", func(_ context.Context, messages []*outbox.Message) []error {
		defer b.note(messages)()
		results := make([]error, len(messages))
		for i, m := range messages {
			if m.Position == ids[7] {
				results[i] = outbox.Permanent(errors.New("no"))
			}
		}
		messages[0] = nil // it is the handler's
		return results
	}, outbox.BatchOptions{Max: 10, Wait: time.Minute})
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if got := b.sizes(); fmt.Sprint(got) != "[10 10 10]" {
		t.Errorf("batches of %v", got)
	}
	for _, c := range b.calls {
		if !slices.IsSortedFunc(c, func(a, b *outbox.Message) int { return int(a.Position - b.Position) }) {
			t.Error("a batch is out of order")
		}
	}
	if b.most.Load() != 1 {
		t.Errorf("%d calls at once", b.most.Load())
	}
	for i, id := range ids {
		want := outbox.Done
		if i == 7 {
			want = outbox.Failed
		}
		f.status(id, want)
	}
}

// D-203: a call that panics, ends its goroutine, or returns another number of results fails the
// attempt of all its messages.
func TestHandleBatchFails(t *testing.T) { dbtest.Each(t, testHandleBatchFails) }

func testHandleBatchFails(t *testing.T, e dbtest.Engine) {
	for want, handler := range map[string]outbox.BatchHandler{
		"panic: odd": func(context.Context, []*outbox.Message) []error { panic("odd") },
		"batch handler ended its goroutine (runtime.Goexit) instead of returning": func(context.Context, []*outbox.Message) []error { runtime.Goexit(); return nil },
		"batch handler returned 0 results for 3 messages":                         func(context.Context, []*outbox.Message) []error { return nil },
		"batch handler returned 4 results for 3 messages":                         func(context.Context, []*outbox.Message) []error { return make([]error, 4) },
		"context deadline exceeded": func(ctx context.Context, m []*outbox.Message) []error {
			<-ctx.Done()
			return []error{ctx.Err(), ctx.Err(), ctx.Err()}
		},
	} {
		t.Run(want, func(t *testing.T) {
			f := open(t, e, worker.Options{StopWhenEmpty: true, Retry: &worker.RetryPolicy{MaxAttempts: 1}})
			ids := f.enqueueN(3)
			f.HandleBatch("t", handler, outbox.BatchOptions{Max: 3, Wait: time.Minute}, outbox.HandlerOptions{Timeout: 200 * time.Millisecond})
			if err := f.Run(f.ctx()); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if got := f.status(id, outbox.Failed); got.LastError != want {
					t.Errorf("failed with %q", got.LastError)
				}
			}
		})
	}
}

// D-203: a batch that is not full begins when its first message has waited; calls run beside each other
// as far as they may; middleware sees each message.
func TestHandleBatchWaits(t *testing.T) { dbtest.Each(t, testHandleBatchWaits) }

func testHandleBatchWaits(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{Concurrency: 1}))
	var b batches
	var seen atomic.Int64
	f.Use(func(next outbox.Handler) outbox.Handler {
		return func(ctx context.Context, m *outbox.Message) error {
			defer seen.Add(1)
			return next(ctx, m)
		}
	})
	both := make(chan struct{})
	f.HandleBatch("t", func(_ context.Context, messages []*outbox.Message) []error {
		defer b.note(messages)()
		if b.now.Load() == 2 {
			close(both)
		}
		<-both
		return make([]error, len(messages))
	}, outbox.BatchOptions{Max: 2, Wait: 5 * time.Millisecond}, outbox.HandlerOptions{Concurrency: 2})
	f.start()
	ids := f.enqueueN(3)
	for _, id := range ids {
		f.untilStatus(id, outbox.Done)
	}
	if got := b.sizes(); len(got) < 2 || slices.Max(got) > 2 {
		t.Errorf("batches of %v", got)
	}
	if seen.Load() != 3 {
		t.Errorf("middleware saw %d messages", seen.Load())
	}
}

// D-203: a worker that stops lets a running batch end and releases, uncounted, what still waits for
// company.
func TestHandleBatchStops(t *testing.T) { dbtest.Each(t, testHandleBatchStops) }

func testHandleBatchStops(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{Grace: 50 * time.Millisecond}))
	running := make(chan struct{})
	f.HandleBatch("t", func(ctx context.Context, messages []*outbox.Message) []error {
		close(running)
		<-ctx.Done()
		return make([]error, len(messages)) // they were handled
	}, outbox.BatchOptions{Max: 2, Wait: time.Minute})
	ids := f.enqueueN(2)
	stop := f.start()
	<-running
	alone := f.enqueueN(1)[0]
	f.untilStatus(alone, outbox.InProgress)
	stop()
	for _, id := range ids {
		f.status(id, outbox.Done)
	}
	if got := f.status(alone, outbox.Ready); got.RetryCount != 0 {
		t.Errorf("%d attempts were counted", got.RetryCount)
	}
}

// D-22: errors of registration come from Run.
func TestHandleBatchRegistration(t *testing.T) {
	f := open(t, dbtest.Engines()[0])
	none := func(_ context.Context, m []*outbox.Message) []error { return make([]error, len(m)) }
	f.HandleBatch("nil", nil, outbox.BatchOptions{})
	f.HandleBatch("most", none, outbox.BatchOptions{Max: 1001})
	f.HandleBatch("wait", none, outbox.BatchOptions{Wait: time.Hour})
	f.HandleBatch("limit", none, outbox.BatchOptions{}, outbox.HandlerOptions{Concurrency: -1})
	f.HandleBatch("twice", none, outbox.BatchOptions{})
	f.HandleBatch("twice", none, outbox.BatchOptions{})
	err := f.Run(f.ctx())
	for _, part := range []string{`"nil"`, `"most": invalid argument: Max`, `"wait": invalid argument: Wait`, `"limit": invalid argument: Concurrency`, `"twice"`} {
		if err == nil || !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "duplicate handler") || !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %s", err, part)
		}
	}
}

// D-202: the messages of a topic that has a limit of its own keep nobody else waiting, and never run
// more at once, in several queues.
func TestHandlerConcurrency(t *testing.T) { dbtest.Each(t, testHandlerConcurrency) }

func testHandlerConcurrency(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{Concurrency: 8, BatchSize: 20, Queues: []string{"a", "b"}}))
	var now, most, all atomic.Int64
	others := make(chan struct{}, 100)
	release := make(chan struct{})
	f.Handle("slow.*", func(context.Context, *outbox.Message) error {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		<-release
		all.Add(1)
		return nil
	}, outbox.HandlerOptions{Concurrency: 3})
	f.handle("quick", func(context.Context, *outbox.Message) error { others <- struct{}{}; return nil })
	for i := range 60 {
		f.enqueue(outbox.Message{Topic: fmt.Sprintf("slow.%d", i%2), Queue: []string{"a", "b"}[i%2]})
	}
	for i := range 20 {
		f.enqueue(outbox.Message{Topic: "quick", Queue: []string{"a", "b"}[i%2]})
	}
	f.start()
	for range 20 {
		<-others // although all slow ones come first and none of them ends
	}
	close(release)
	dbtest.Until(t, "all are handled", func() bool { return all.Load() == 60 })
	if n := most.Load(); n > 3 {
		t.Errorf("%d at once", n)
	}
}

// D-201: a name that ends in * takes the topics that begin with it: a topic's own handler comes first,
// then the longest name. Messages that wait for a join go to none of these.
func TestHandlePatterns(t *testing.T) { dbtest.Each(t, testHandlePatterns) }

func testHandlePatterns(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{StopWhenEmpty: true})
	var mu sync.Mutex
	got := map[string]string{}
	for _, name := range []string{"*", "order.*", "order.line.*", "order.created"} {
		f.handle(name, func(_ context.Context, m *outbox.Message) error {
			mu.Lock()
			defer mu.Unlock()
			got[m.Topic] = name
			return nil
		})
	}
	want := map[string]string{"order.created": "order.created", "order.paid": "order.*", "order.line.added": "order.line.*", "order": "*", "mail": "*"}
	for topic := range want {
		f.enqueue(outbox.Message{Topic: topic})
	}
	wait := f.enqueue(outbox.Message{Topic: "join.wait"})
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("handled by %v", got)
	}
	if got := f.status(wait, outbox.Ready); got.RetryCount != 0 { // put back
		t.Errorf("%d attempts were counted", got.RetryCount)
	}
}
