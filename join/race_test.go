package join_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// together runs n calls at once and returns when all have.
func (f *fixture) together(n int, call func(i int) error) {
	f.t.Helper()
	begin := make(chan struct{})
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			errs[i] = call(i)
		})
	}
	close(begin)
	all.Wait()
	f.check(errors.Join(errs...))
}

// D-30, D-39
func TestConcurrentAcks(t *testing.T) { eachAndRepeatableRead(t, testConcurrentAcks) }

func testConcurrentAcks(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 200
	id, msgs := f.members(n)
	f.wait(id, join.Wait{OnComplete: outbox.Message{Topic: "done"}, Queue: outbox.DefaultQueue})
	owner, items := f.claim(n)
	f.together(n, func(i int) error {
		got, err := f.box.WorkQueue("").Ack(f.ctx(), owner, items[msgs[i]])
		if err == nil && got != 1 {
			err = errors.New("an ack was lost")
		}
		return err
	})
	f.progress(id, n, 0, join.Completed)
	f.drain(nil)
	f.sent("done", 1)
}

// D-39, D-30, D-40: a join of thousands of members, which sixteen workers of two
// processes claim and settle in batches, some acked and some failed, loses none
// and ends once. 10 000 with PAWL_LONG: with the race detector that takes more
// than ten seconds on a small machine.
func TestManyMembers(t *testing.T) { eachAndRepeatableRead(t, testManyMembers) }

func testManyMembers(t *testing.T, e dbtest.Engine) {
	n := 2000
	if os.Getenv("PAWL_LONG") != "" {
		n = 10_000
	}
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{}, steps("step", n), join.Wait{OnFail: outbox.Message{Topic: "failed", Queue: "sink"}, Queue: "waits"})
	f.check(err)
	boxes := []*parts.Outbox{f.box, parts.NewOutbox(f.db.Another(t), worker.Options{Logger: quiet()})}
	var acked, failed atomic.Int64
	f.together(16, func(i int) error {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		for {
			owner := outbox.NewOwnerToken()
			msgs, err := boxes[i%2].WorkQueue("").Claim(f.ctx(), owner, lease, 1+rng.IntN(60))
			if err != nil || acked.Load()+failed.Load() == int64(n) {
				return err
			}
			var good, bad []outbox.Position
			for _, m := range msgs {
				if rng.IntN(5) == 0 {
					bad = append(bad, m.Position)
				} else {
					good = append(good, m.Position)
				}
			}
			a, err := boxes[i%2].WorkQueue("").Ack(f.ctx(), owner, good...)
			if err != nil {
				return err
			}
			b, err := boxes[i%2].WorkQueue("").Fail(f.ctx(), owner, nil, bad...)
			if err != nil || a+b != int64(len(msgs)) {
				return fmt.Errorf("settled %d and %d of %d: %w", a, b, len(msgs), err)
			}
			acked.Add(a)
			failed.Add(b)
		}
	})
	f.progress(fan.Join, int(acked.Load()), int(failed.Load()), join.Failed)
	box := parts.NewOutbox(f.db.DB, worker.Options{StopWhenEmpty: true, Logger: quiet(), Queues: []string{"waits"}})
	parts.NewJoins(f.db.DB, box, join.Options{}, nil)
	f.check(box.Run(f.ctx()))
	f.sent("failed", 1)
}

// lines collects what several loops log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// D-39: workers that settle steps of the same two joins, of which each exchange
// has acks and failures of both, never wait for each other in a circle.
func TestOppositeOrders(t *testing.T) { eachAndRepeatableRead(t, testOppositeOrders) }

func testOppositeOrders(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 80 // steps of each join, and as many of both
	var ids [2]join.ID
	for i := range ids {
		ids[i] = f.start(2 * n)
		f.wait(ids[i], named(ids[i]))
	}
	for i := range n { // their steps lie side by side
		a, b, both := f.enqueue(fmt.Sprint("fails ", i%2 == 0), 1), f.enqueue(fmt.Sprint("fails ", i%2 == 1), 1), f.enqueue("fails false", 1)
		f.check(f.Attach(f.ctx(), ids[0], append(a, both...)...))
		f.check(f.Attach(f.ctx(), ids[1], append(b, both...)...))
	}
	var log lines
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	f.together(4, func(int) error {
		db := f.db.Another(t)
		box := parts.NewOutbox(db, worker.Options{StopWhenEmpty: true, Logger: logger, Concurrency: 8, BatchSize: 10})
		parts.NewJoins(db, box, join.Options{}, logger)
		box.Handle("fails false", succeed)
		box.Handle("fails true", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) })
		return box.Run(f.ctx())
	})
	f.drain(nil)
	for _, id := range ids {
		f.progress(id, n+n/2, n/2, join.Failed)
		f.firedOnce(id, join.Failed)
	}
	if bytes.Contains(bytes.ToLower(log.buf.Bytes()), []byte("deadlock")) {
		t.Errorf("logged:\n%s", log.buf.Bytes())
	}
}

// D-31, D-39: messages that are attached, to two joins, in any order, while
// workers claim and settle them, are counted once in each.
func TestAttachRaces(t *testing.T) { eachAndRepeatableRead(t, testAttachRaces) }

func testAttachRaces(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 80
	ids := []join.ID{f.start(n), f.start(n)}
	msgs := f.enqueue("step", n)
	f.together(6, func(i int) error {
		if i < 2 {
			rng := rand.New(rand.NewPCG(2, uint64(i)))
			for _, k := range rng.Perm(n / 4) {
				if err := f.Attach(f.ctx(), ids[i], msgs[4*k], msgs[4*k+3], msgs[4*k+1], msgs[4*k+2]); err != nil {
					return err
				}
			}
			return nil
		}
		for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
			owner := outbox.NewOwnerToken()
			got, err := f.box.WorkQueue("").Claim(f.ctx(), owner, lease, 7)
			if err != nil {
				return err
			}
			for _, m := range got {
				if _, err := f.box.WorkQueue("").Ack(f.ctx(), owner, m.Position); err != nil {
					return err
				}
			}
			if c, err := f.box.Count(f.ctx()); err != nil || c.Done == n {
				return err
			}
		}
		return errors.New("the messages were not done in time")
	})
	for _, id := range ids {
		f.progress(id, n, 0, join.Completed)
	}
}
