package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// OBX-059, OBX-098, OBX-100, OBX-101, D-3, D-12, D-13, D-19: six producers of
// which some roll back, and eight workers, each with a database handle of its
// own, that fail, put back, forget and lose leases, stop and start: nothing is
// lost or made up, nothing is in two hands at once, and the counts are exact.
func TestStressOnSQLite(t *testing.T) { stress(t, dbtest.OpenSQLite(t), 1500) }

// OBX-059, OBX-098, OBX-100, OBX-101, D-3, D-12, D-13, D-19: the same on PostgreSQL.
func TestStressOnPostgres(t *testing.T) { stress(t, dbtest.OpenPostgres(t), 6000) }

// OBX-059, OBX-098, OBX-100, OBX-101, D-3, D-12, D-13, D-19: the same on SQL Server.
func TestStressOnSQLServer(t *testing.T) { stress(t, dbtest.Named(t, "sqlserver").Open(t), 6000) }

const (
	stressProducers = 6
	stressLoops     = 5                     // workers that call Run
	stressHands     = 3                     // workers that claim and settle by hand
	shortLease      = 50 * time.Millisecond // of the workers by hand
)

func stress(t *testing.T, d dbtest.Database, n int) {
	if os.Getenv("PAWL_LONG") != "" {
		n *= 20
	}
	w := &stressWorld{t: t, d: d, want: n, committed: map[outbox.MessageID]bool{}, holders: map[outbox.Position][]*holder{}, handled: map[outbox.MessageID]int{}}
	ctx, stop := context.WithCancel(t.Context())
	var producers, workers sync.WaitGroup
	for i := range stressProducers {
		o := parts.NewOutbox(d.Another(t), worker.Options{})
		producers.Go(func() { w.produce(o, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	for i := range stressLoops {
		workers.Go(func() { w.loop(ctx, rand.New(rand.NewPCG(2, uint64(i)))) })
	}
	for i := range stressHands {
		o := parts.NewOutbox(d.Another(t), worker.Options{})
		workers.Go(func() { w.byHand(ctx, o, rand.New(rand.NewPCG(3, uint64(i)))) })
	}
	producers.Wait()
	w.awaitMostlyDone(ctx)
	stop()
	workers.Wait()
	w.drain()
	w.check()
}

// stressWorld is what everyone knows of what was done.
type stressWorld struct {
	t    *testing.T
	d    dbtest.Database
	want int // messages to commit

	mu        sync.Mutex
	committed map[outbox.MessageID]bool
	undone    []outbox.MessageID // rolled back
	holders   map[outbox.Position][]*holder
	handled   map[outbox.MessageID]int // executions that ended well
	acked     int64
	failed    int64
}

// holder is someone who works on a message: valid for as long as its lease
// lasts for certain.
type holder struct {
	ctx   context.Context // of a loop's handler
	until time.Time       // of a claim by hand
}

func (h *holder) valid(now time.Time) bool {
	if h.ctx != nil {
		return h.ctx.Err() == nil
	}
	return now.Before(h.until)
}

// hold enters a holder, who must be the only one.
func (w *stressWorld) hold(m *outbox.Message, h *holder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, other := range w.holders[m.Position] {
		if h.valid(now) && other.valid(now) { // a claim whose answer took longer than its lease holds nothing
			w.t.Errorf("message %d is in two hands at once", m.Position)
		}
	}
	if !w.committed[m.ID] && slices.Contains(w.undone, m.ID) {
		w.t.Errorf("message %v was rolled back", m.ID)
	}
	w.holders[m.Position] = append(w.holders[m.Position], h)
}

// drop takes holders off; they settle afterwards, so that nobody can get the
// messages before.
func (w *stressWorld) drop(h *holder, ids ...outbox.Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		w.holders[id] = slices.DeleteFunc(w.holders[id], func(x *holder) bool { return x == h })
	}
}

func (w *stressWorld) enough() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.committed) >= w.want
}

// produce enqueues alone, in batches and in transactions, some of which roll back.
func (w *stressWorld) produce(o *parts.Outbox, rng *rand.Rand) {
	for !w.enough() && !w.t.Failed() {
		msgs := make([]outbox.Message, 1+rng.IntN(20))
		for i := range msgs {
			msgs[i] = outbox.Message{Topic: "t", Payload: fmt.Append(nil, rng.Uint64()), Priority: rng.IntN(2)}
		}
		switch rng.IntN(4) {
		case 0:
			id, err := o.Enqueue(w.t.Context(), msgs[0])
			w.produced([]outbox.MessageID{id}, err, true)
		case 1:
			ids, err := o.EnqueueBatch(w.t.Context(), msgs)
			w.produced(ids, err, true)
		default:
			w.produceTx(o, msgs, rng.IntN(2) == 0)
		}
	}
}

func (w *stressWorld) produceTx(o *parts.Outbox, msgs []outbox.Message, commit bool) {
	tx, err := w.d.SQL.BeginTx(w.t.Context(), nil)
	if err != nil {
		w.t.Error(err)
		return
	}
	ids, err := o.EnqueueBatchTx(w.t.Context(), tx, msgs)
	if commit && err == nil {
		w.produced(ids, tx.Commit(), true)
		return
	}
	w.produced(ids, errors.Join(err, tx.Rollback()), false)
}

func (w *stressWorld) produced(ids []outbox.MessageID, err error, committed bool) {
	if err != nil {
		w.t.Error(err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if committed {
			w.committed[id] = true
		} else {
			w.undone = append(w.undone, id)
		}
	}
}

// loop runs loops one after the other, each until it has handled some.
func (w *stressWorld) loop(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil && !w.t.Failed() {
		db := w.d.Another(w.t)
		o := parts.NewOutbox(db, worker.Options{Logger: slog.New(slog.DiscardHandler), Concurrency: 4, BatchSize: 20, Grace: 20 * time.Second, PollInterval: 50 * time.Millisecond,
			Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 5 * time.Millisecond }}})
		ctx, stop := context.WithCancel(ctx)
		var mu sync.Mutex // of rng and left
		left := 50 + rng.IntN(500)
		o.Handle("t", func(ctx context.Context, m *outbox.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				stop()
			}
			return w.handle(ctx, m, rng)
		})
		if err := o.Run(ctx); err != nil && ctx.Err() == nil {
			w.t.Error(err)
		}
		stop()
		counts := o.Component().Stats()
		w.mu.Lock()
		w.acked += counts.Acked
		w.failed += counts.Failed
		w.mu.Unlock()
		if counts.Lost > 0 {
			w.t.Errorf("a loop lost %d leases of 30 s", counts.Lost)
		}
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *stressWorld) handle(ctx context.Context, m *outbox.Message, rng *rand.Rand) error {
	h := &holder{ctx: ctx}
	w.hold(m, h)
	defer w.drop(h, m.Position)
	switch rng.IntN(20) {
	case 0:
		return errors.New("again")
	case 1:
		return outbox.RetryAfter(time.Duration(rng.IntN(10))*time.Millisecond, errors.New("again soon"))
	case 2:
		return outbox.Snooze(time.Duration(rng.IntN(10)) * time.Millisecond)
	case 3:
		return outbox.Permanent(errors.New("never"))
	case 4:
		panic("handler")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handled[m.ID]++
	return nil
}

// byHand claims under a short lease and acks, abandons, releases, fails,
// extends or forgets what it got, in parts.
func (w *stressWorld) byHand(ctx context.Context, o *parts.Outbox, rng *rand.Rand) {
	for ctx.Err() == nil && !w.t.Failed() {
		owner := outbox.NewOwnerToken()
		h := &holder{until: time.Now().Add(shortLease)}
		msgs, err := o.WorkQueue("").Claim(w.t.Context(), owner, shortLease, 1+rng.IntN(30))
		if err != nil {
			w.t.Error(err)
			return
		}
		if len(msgs) == 0 {
			_ = engine.Sleep(ctx, 2*time.Millisecond) // poll
			continue
		}
		for _, m := range msgs {
			w.hold(m, h)
		}
		rng.Shuffle(len(msgs), func(i, k int) { msgs[i], msgs[k] = msgs[k], msgs[i] })
		for len(msgs) > 0 {
			part := msgs[:1+rng.IntN(len(msgs))]
			msgs = msgs[len(part):]
			w.settle(o, owner, h, part, rng)
		}
	}
}

func (w *stressWorld) settle(o *parts.Outbox, owner outbox.OwnerToken, h *holder, part []*outbox.Message, rng *rand.Rand) {
	ids := make([]outbox.Position, len(part))
	for i, m := range part {
		ids[i] = m.Position
	}
	ctx := w.t.Context()
	var n, acked, failed int64
	var err error
	what := rng.IntN(10)
	if what != 9 {
		w.drop(h, ids...)
	}
	switch what {
	case 0:
		n, err = o.WorkQueue("").Abandon(ctx, owner, outbox.RetryAfter(time.Duration(rng.IntN(20))*time.Millisecond, errors.New("by hand")), ids...)
	case 1:
		n, err = o.Release(ctx, owner, ids...)
	case 2:
		n, err = o.WorkQueue("").Fail(ctx, owner, errors.New("by hand"), ids...)
		failed = n
	case 3:
		if n, err = o.WorkQueue("").Ack(ctx, outbox.NewOwnerToken(), ids...); n != 0 || err != nil {
			w.t.Errorf("a stranger acked %d messages: %v", n, err)
		}
		return // and forget them
	case 4:
		return // forget them
	case 9:
		n, err = o.Extend(ctx, owner, shortLease, ids...)
		w.drop(h, ids...)
	default:
		n, err = o.WorkQueue("").Ack(ctx, owner, ids...)
		acked = n
	}
	if err != nil || n > int64(len(part)) {
		w.t.Errorf("settled %d of %d messages: %v", n, len(part), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked += acked
	w.failed += failed
	for _, m := range part {
		if acked > 0 {
			w.handled[m.ID]++
		}
	}
}

// awaitMostlyDone waits until little is left to do.
func (w *stressWorld) awaitMostlyDone(ctx context.Context) {
	o := parts.NewOutbox(w.d.DB, worker.Options{})
	for !w.t.Failed() {
		c, err := o.Count(ctx)
		if err != nil {
			w.t.Error(err)
			return
		}
		if c.Ready+c.Scheduled+c.Retrying+c.InProgress < int64(w.want/20) {
			return
		}
		_ = engine.Sleep(ctx, 10*time.Millisecond) // poll
	}
}

// drain has one last worker finish what was left or forgotten.
func (w *stressWorld) drain() {
	for !w.t.Failed() {
		w.d.Pass(2 * shortLease)
		o := parts.NewOutbox(w.d.DB, worker.Options{StopWhenEmpty: true})
		o.Handle("t", func(ctx context.Context, m *outbox.Message) error {
			h := &holder{ctx: ctx}
			w.hold(m, h)
			defer w.drop(h, m.Position)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.handled[m.ID]++
			return nil
		})
		if _, err := o.WorkQueue("").ReapExpired(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if err := o.Run(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		w.acked += o.Component().Stats().Acked
		c, err := o.Count(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if c.Ready+c.Scheduled+c.Retrying+c.InProgress == 0 {
			return
		}
	}
}

func (w *stressWorld) check() {
	ctx := w.t.Context()
	o := parts.NewOutbox(w.d.DB, worker.Options{})
	c, err := o.Count(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Logf("%d committed, %d rolled back, %+v", len(w.committed), len(w.undone), c)
	if c.Done != w.acked || c.Failed != w.failed || c.Done+c.Failed != int64(len(w.committed)) {
		w.t.Errorf("counts %+v, want %d done and %d failed of %d", c, w.acked, w.failed, len(w.committed))
	}
	w.d.CheckPlaces(w.t)
	for id := range w.committed {
		i, err := o.Get(ctx, id)
		if err != nil {
			w.t.Errorf("lost: %v", err)
			continue
		}
		if i.Status == outbox.Done && w.handled[id] == 0 {
			w.t.Errorf("%v is done but was never handled", id)
		}
	}
	for _, id := range w.undone {
		if _, err := o.Get(ctx, id); !errors.Is(err, outbox.ErrNotFound) {
			w.t.Errorf("%v was rolled back and can be found: %v", id, err)
		}
	}
}
