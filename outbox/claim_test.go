package outbox_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// OBX-017, OBX-019, OBX-020, OBX-021, OBX-022
func TestClaimTakesAndLocks(t *testing.T) { dbtest.Each(t, testClaimTakesAndLocks) }

func testClaimTakesAndLocks(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	items := f.enqueueN(5)
	owner, msgs := f.claim(3)
	if !slices.Equal(positions(msgs), items[:3]) {
		t.Fatalf("claimed %v of %v", positions(msgs), items)
	}
	for _, id := range items[:3] {
		got := f.status(id, outbox.InProgress)
		left := got.LockedUntil.Sub(got.CreatedAt)
		if got.Owner != owner || left < lease || left > lease+time.Minute {
			t.Fatalf("claimed message is %+v", got)
		}
	}
	if _, rest := f.claim(5); !slices.Equal(positions(rest), items[3:]) {
		t.Fatalf("the second claim took %v", positions(rest))
	}
}

// OBX-023
func TestClaimNone(t *testing.T) { dbtest.Each(t, testClaimNone) }

func testClaimNone(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.claimExactly(0)
}

// OBX-024, OBX-025, OBX-032, OBX-048
func TestClaimLeavesSettled(t *testing.T) { dbtest.Each(t, testClaimLeavesSettled) }

func testClaimLeavesSettled(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(2)
	owner, msgs := f.claimExactly(2)
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("no"), msgs[1].Position))
	f.db.Pass(50 * time.Millisecond)
	f.claimExactly(0)
	f.touched(0)(f.WorkQueue("").ReapExpired(f.ctx()))
	f.claimExactly(0)
}

// OBX-026, OBX-117
func TestClaimBatchSize(t *testing.T) { dbtest.Each(t, testClaimBatchSize) }

func testClaimBatchSize(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(250)
	for range 40 {
		f.enqueue(outbox.Message{})
	}
	var all []outbox.Position
	for _, n := range []int{1, 7, 93, 100, 60, 1000} {
		_, msgs := f.claim(n)
		if len(msgs) > n {
			t.Fatalf("asked for %d, got %d", n, len(msgs))
		}
		all = append(all, positions(msgs)...)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != 290 {
		t.Fatalf("claimed %d different messages of 290", len(all))
	}
}

// OBX-116, D-2
func TestClaimBadArguments(t *testing.T) { dbtest.Each(t, testClaimBadArguments) }

func testClaimBadArguments(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	refuse := func(field string, _ []*outbox.Message, err error) {
		t.Helper()
		f.refused(field)(nil, err)
	}
	claim := func(o outbox.OwnerToken, d time.Duration, n int, queue string) ([]*outbox.Message, error) {
		return f.WorkQueue(queue).Claim(f.ctx(), o, d, n)
	}
	msgs, err := claim(outbox.OwnerToken{}, lease, 1, "q")
	refuse("owner token", msgs, err)
	msgs, err = claim(outbox.NewOwnerToken(), 0, 1, "q")
	refuse("lease", msgs, err)
	msgs, err = claim(outbox.NewOwnerToken(), lease, 0, "q")
	refuse("batch size", msgs, err)
	msgs, err = claim(outbox.NewOwnerToken(), lease, 1, " ")
	refuse("queue", msgs, err)
}

func TestClaimPriority(t *testing.T) { dbtest.Each(t, testClaimPriority) }

func testClaimPriority(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, p := range []int{5, -5, 0, 100, -100} {
		f.enqueue(outbox.Message{Priority: p})
	}
	_, msgs := f.claimExactly(5)
	for i, want := range []int{-100, -5, 0, 5, 100} {
		if msgs[i].Priority != want {
			t.Fatalf("message %d has priority %d, want %d", i, msgs[i].Priority, want)
		}
	}
}

// D-21
func TestClaimOrder(t *testing.T) { dbtest.Each(t, testClaimOrder) }

func testClaimOrder(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	now := f.get(f.enqueue(outbox.Message{})).CreatedAt
	third := f.enqueue(outbox.Message{Due: now.Add(-time.Minute)})
	first := f.enqueue(outbox.Message{Due: now.Add(-time.Hour)})
	second := f.enqueue(outbox.Message{Due: now.Add(-time.Hour + time.Second)})
	for _, want := range []outbox.Position{first, second, third} {
		_, msgs := f.claimExactly(1)
		if msgs[0].Position != want {
			t.Fatalf("claimed %d before %d", msgs[0].Position, want)
		}
	}
}

func TestClaimQueues(t *testing.T) { dbtest.Each(t, testClaimQueues) }

func testClaimQueues(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueue(outbox.Message{Queue: "a"})
	f.enqueue(outbox.Message{Queue: "b"})
	f.claimExactly(0)
	for _, q := range []string{"a", "b"} {
		msgs, err := f.WorkQueue(q).Claim(f.ctx(), outbox.NewOwnerToken(), lease, 10)
		if err != nil || len(msgs) != 1 || msgs[0].Queue != q {
			t.Fatalf("queue %s: %d messages, %v", q, len(msgs), err)
		}
	}
}

// OBX-059, OBX-098, OBX-100, OBX-101
func TestClaimConcurrently(t *testing.T) { dbtest.Each(t, testClaimConcurrently) }

func testClaimConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const total = 2000
	for range total / 100 {
		f.enqueueBatch(100)
	}
	var mu sync.Mutex
	seen := map[outbox.Position]int{}
	var wg sync.WaitGroup
	for range 8 {
		o := parts.NewOutbox(f.db.Another(t), worker.Options{})
		wg.Go(func() {
			for {
				owner := outbox.NewOwnerToken()
				msgs, err := o.WorkQueue("").Claim(f.ctx(), owner, lease, 30)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, m := range msgs {
					seen[m.Position]++
				}
				done := len(seen) == total
				mu.Unlock()
				if _, err := o.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...); err != nil {
					t.Error(err)
				}
				if done || len(msgs) == 0 {
					return
				}
			}
		})
	}
	wg.Wait()
	for id, times := range seen {
		if times > 1 {
			t.Fatalf("message %d was claimed %d times", id, times)
		}
	}
	if _, rest := f.claim(1000); len(rest)+len(seen) != total {
		t.Fatalf("%d messages were never seen", total-len(seen)-len(rest))
	}
}

func (f *fixture) enqueueBatch(n int) {
	f.t.Helper()
	if _, err := f.EnqueueBatch(f.ctx(), make3(n)); err != nil {
		f.t.Fatal(err)
	}
}

// OBX-098
func TestClaimIgnoresUncommitted(t *testing.T) { dbtest.Each(t, testClaimIgnoresUncommitted) }

func testClaimIgnoresUncommitted(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tx := f.begin()
	if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t"}); err != nil {
		t.Fatal(err)
	}
	f.claimExactly(0)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	f.claimExactly(1)
}

// A transaction that took its ids early and commits late loses nothing.
func TestClaimFindsLateCommits(t *testing.T) { dbtest.Each(t, testClaimFindsLateCommits) }

func testClaimFindsLateCommits(t *testing.T, e dbtest.Engine) {
	if e.Name == "sqlite" {
		// One writer at a time: a later transaction cannot commit first.
		testClaimIgnoresUncommitted(t, e)
		return
	}
	f := open(t, e)
	late := f.begin()
	if _, err := f.EnqueueTx(f.ctx(), late, outbox.Message{Topic: "late"}); err != nil {
		t.Fatal(err)
	}
	f.enqueueN(10)
	owner, msgs := f.claimExactly(10)
	f.touched(10)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	if err := late.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, msgs := f.claimExactly(1); msgs[0].Topic != "late" {
		t.Fatalf("claimed %q", msgs[0].Topic)
	}
}

// OBX-013, D-21: a program's claim begins with what is due longest, also after
// claims that were full and met only newer messages: it never says that it is a
// worker loop's, which an engine may let begin further on.
func TestClaimOldestAfterFullClaims(t *testing.T) { dbtest.Each(t, testClaimOldestAfterFullClaims) }

func testClaimOldestAfterFullClaims(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	seen := &claimsSeen{DB: f.db.DB}
	f.Outbox = parts.NewOutbox(seen, worker.Options{StopWhenEmpty: true})
	f.enqueueN(4)
	f.claimExactly(4)
	old := f.enqueue(outbox.Message{Due: time.Now().Add(-time.Hour)})
	fresh := f.enqueueN(2)
	owner, first := f.claimExactly(1)
	if first[0].Position != old {
		t.Fatalf("claimed %d, want %d, which is due for an hour", first[0].Position, old)
	}
	f.claimExactly(1)
	f.touched(1)(f.Release(f.ctx(), owner, old))
	if _, again := f.claimExactly(2); again[0].Position != old || again[1].Position != fresh[1] {
		t.Fatalf("claimed %v, want %d, which was released, and then %d", positions(again), old, fresh[1])
	}
	if seen.loops.Load() != 0 {
		t.Errorf("%d claims of a program say that they are a loop's", seen.loops.Load())
	}
	if err := f.Run(f.ctx()); err != nil || seen.loops.Load() == 0 {
		t.Errorf("no claim of a worker says that it is a loop's, %v", err)
	}
}

// claimsSeen counts the claims that say that they are a worker loop's.
type claimsSeen struct {
	engine.DB
	loops atomic.Int64
}

func (c *claimsSeen) Do(ctx context.Context, calls ...*engine.Call) error {
	for _, call := range calls {
		if _, ok := call.Operation.(op.OutboxClaim); ok {
			c.loops.Add(1)
		}
	}
	return c.DB.Do(ctx, calls...)
}
