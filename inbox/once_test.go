package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-50, D-51, D-52
func TestOnce(t *testing.T) { dbtest.Each(t, testOnce) }

func testOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for n := range int64(3) {
		f.check(f.Once(f.ctx(), key("a"), f.write("a")))
		f.effects(1)
		f.state(key("a"), inbox.Done, n+1, 1)
	}
	got := f.state(key("a"), inbox.Done, 3, 1)
	if got.ProcessedAt.IsZero() || got.FirstSeenAt.After(got.ProcessedAt) || got.LastSeenAt.Before(got.ProcessedAt) || got.LastError != "" {
		t.Fatalf("the message is %+v", got)
	}
}

// D-51, D-53: what a failed handler wrote is gone, and the message may be tried again.
func TestOnceFails(t *testing.T) { dbtest.Each(t, testOnceFails) }

func testOnceFails(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for n := range 3 {
		f.is(f.Once(f.ctx(), key("a"), func(ctx context.Context, tx engine.Tx) error {
			return errors.Join(f.effect(ctx, tx, "a"), errDown)
		}), errDown)
		f.effects(0)
		if got := f.state(key("a"), inbox.Seen, int64(n+1), n+1); got.LastError != "down" {
			t.Fatalf("the error kept is %q", got.LastError)
		}
	}
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	f.effects(1)
	f.state(key("a"), inbox.Done, 4, 4)
}

// D-51: a panic passes on, and leaves nothing behind.
func TestOncePanics(t *testing.T) { dbtest.Each(t, testOncePanics) }

func testOncePanics(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = f.Once(f.ctx(), key("a"), func(ctx context.Context, tx engine.Tx) error {
			f.check(f.effect(ctx, tx, "a"))
			panic("oh")
		})
	}()
	f.effects(0)
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	f.effects(1)
}

// D-15: what was cancelled from outside is no failed attempt.
func TestOnceCancelled(t *testing.T) { dbtest.Each(t, testOnceCancelled) }

func testOnceCancelled(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ctx, cancel := context.WithCancel(f.ctx())
	f.is(f.Once(ctx, key("a"), func(ctx context.Context, tx engine.Tx) error {
		cancel()
		return ctx.Err()
	}), context.Canceled)
	if _, err := f.Get(f.ctx(), key("a")); !errors.Is(err, inbox.ErrNotFound) {
		t.Fatalf("a cancelled attempt left a trace: %v", err)
	}
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	f.effects(1)
}

// D-52, D-53: dead once attempts are used up, and dead until revived.
func TestOnceDead(t *testing.T) { dbtest.Each(t, testOnceDead) }

func testOnceDead(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 3}})
	fail := func(context.Context, engine.Tx) error { return errDown }
	for n := range 3 {
		err := f.Once(f.ctx(), key("a"), fail)
		f.is(err, errDown)
		if dead := errors.Is(err, inbox.ErrDead); dead != (n == 2) {
			t.Fatalf("dead after attempt %d: %v", n+1, dead)
		}
	}
	f.state(key("a"), inbox.Dead, 3, 3)
	for range 2 {
		f.is(f.Once(f.ctx(), key("a"), f.write("a")), inbox.ErrDead)
		f.is(f.Attempt(f.ctx(), key("a"), func(context.Context) error { return nil }), inbox.ErrDead)
	}
	f.effects(0)
	f.state(key("a"), inbox.Dead, 7, 3)
	for _, want := range []bool{true, false} {
		if revived, err := f.Revive(f.ctx(), key("a")); revived != want || err != nil {
			t.Fatalf("revived: %v, %v", revived, err)
		}
	}
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	f.effects(1)
	f.state(key("a"), inbox.Done, 8, 1)
	if revived, err := f.Revive(f.ctx(), key("a")); revived || err != nil {
		t.Fatalf("revived a done message: %v, %v", revived, err)
	}
}

// D-53
func TestOnceNoLimit(t *testing.T) { dbtest.Each(t, testOnceNoLimit) }

func testOnceNoLimit(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 0}})
	for range 15 {
		f.is(f.Once(f.ctx(), key("a"), func(context.Context, engine.Tx) error { return errDown }), errDown)
		f.is(f.Attempt(f.ctx(), key("b"), func(context.Context) error { return errDown }), errDown)
	}
	f.state(key("a"), inbox.Seen, 15, 15)
	f.state(key("b"), inbox.Seen, 15, 15)
}

// D-15
func TestOncePermanent(t *testing.T) { dbtest.Each(t, testOncePermanent) }

func testOncePermanent(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.is(f.Once(f.ctx(), key("a"), func(context.Context, engine.Tx) error { return outbox.Permanent(errDown) }), inbox.ErrDead)
	f.is(f.Attempt(f.ctx(), key("b"), func(context.Context) error { return outbox.Permanent(errDown) }), inbox.ErrDead)
	f.state(key("a"), inbox.Dead, 1, 1)
	f.state(key("b"), inbox.Dead, 1, 1)
}

// D-51: 50 deliveries at once, through two handles; one runs.
func TestOnceConcurrently(t *testing.T) { dbtest.Each(t, testOnceConcurrently) }

func testOnceConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := parts.NewInbox(f.db.Another(t), inbox.Options{}, worker.Options{})
	var ran atomic.Int64
	var all sync.WaitGroup
	for n := range 50 {
		in := f.Inbox
		if n%2 == 1 {
			in = other
		}
		all.Go(func() {
			err := inbox.ErrInProgress
			for errors.Is(err, inbox.ErrInProgress) { // as a broker delivers again
				err = in.Once(f.ctx(), key("a"), func(ctx context.Context, tx engine.Tx) error {
					ran.Add(1)
					return f.effect(ctx, tx, "a")
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.effects(1)
	if ran.Load() != 1 {
		t.Fatalf("ran %d times", ran.Load())
	}
}

// D-51: while one runs the other is told, and need not wait where the engine
// lets it look (SQLite has one writer: there it waits and finds it done).
func TestOnceInProgress(t *testing.T) { dbtest.Each(t, testOnceInProgress) }

func testOnceInProgress(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if e.Name == "sqlite" {
		return // see above; 50 at once covers it
	}
	f.check(f.Once(f.ctx(), key("a"), func(ctx context.Context, tx engine.Tx) error {
		f.is(f.Once(ctx, key("a"), f.write("b")), inbox.ErrInProgress)
		f.is(f.Attempt(ctx, key("a"), func(context.Context) error { return nil }), inbox.ErrInProgress)
		f.check(f.Once(ctx, key("other"), f.write("b")))
		return f.effect(ctx, tx, "a")
	}))
	f.effects(2)
}

// D-51, D-3: the caller's transaction decides.
func TestOnceInTransaction(t *testing.T) { dbtest.Each(t, testOnceInTransaction) }

func testOnceInTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{false, true, true} {
		tx := f.db.Begin(t)
		ran, err := f.OnceTx(f.ctx(), tx, key("a"), func(ctx context.Context) error { return f.effect(ctx, tx, "a") })
		f.check(err)
		if !commit {
			f.check(tx.Rollback())
			f.effects(0)
			continue
		}
		f.check(tx.Commit())
		f.effects(1)
		f.state(key("a"), inbox.Done, map[bool]int64{true: 1, false: 2}[ran], 1)
	}
	tx := f.db.Begin(t)
	ran, err := f.OnceTx(f.ctx(), tx, key("b"), func(context.Context) error { return errDown })
	f.is(err, errDown)
	f.check(tx.Rollback())
	if !ran {
		t.Fatal("did not run")
	}
	for n := 1; n <= 10; n++ {
		dead, err := f.MarkFailed(f.ctx(), key("b"), errDown)
		f.check(err)
		if dead != (n == 10) {
			t.Fatalf("dead after %d: %v", n, dead)
		}
	}
	tx = f.db.Begin(t)
	_, err = f.OnceTx(f.ctx(), tx, key("b"), func(context.Context) error { return nil })
	f.is(err, inbox.ErrDead)
	f.check(tx.Rollback())
	_, err = f.OnceTx(f.ctx(), nil, key("b"), nil)
	f.is(err, engine.ErrInvalid)
}

// D-54
func TestOnceHash(t *testing.T) { dbtest.Each(t, testOnceHash) }

func testOnceHash(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	bare, one, two := key("a"), key("a"), key("a")
	one.Hash, two.Hash = []byte{1}, []byte{2, 0, 255}
	f.check(f.Once(f.ctx(), bare, f.write("a")))
	f.check(f.Once(f.ctx(), one, f.write("a"))) // fills it in
	f.check(f.Once(f.ctx(), bare, f.write("a")))
	for range 2 {
		f.is(f.Once(f.ctx(), two, f.write("a")), inbox.ErrHashMismatch)
	}
	f.is(f.Attempt(f.ctx(), two, func(context.Context) error { return nil }), inbox.ErrHashMismatch)
	_, err := f.AlreadyProcessed(f.ctx(), two)
	f.is(err, inbox.ErrHashMismatch)
	f.effects(1)
	if got := f.state(bare, inbox.Done, 7, 1); got.Mismatches != 4 || string(got.Hash) != "\x01" {
		t.Fatalf("the message is %+v", got)
	}
	other := key("b")
	other.Hash = []byte{2, 0, 255}
	f.check(f.Once(f.ctx(), other, f.write("b")))
	f.check(f.Once(f.ctx(), other, f.write("b")))
	f.effects(2)
}

// D-50
func TestTwoSources(t *testing.T) { dbtest.Each(t, testTwoSources) }

func testTwoSources(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, k := range []inbox.Key{{Source: "a", MessageID: "bc"}, {Source: "ab", MessageID: "c"}, {Source: "A", MessageID: "bc"}, {Source: "a", MessageID: "BC"}} {
		f.check(f.Once(f.ctx(), k, f.write("x")))
		f.check(f.Once(f.ctx(), k, f.write("x")))
	}
	f.effects(4)
}

// D-50
func TestAnyScript(t *testing.T) { dbtest.Each(t, testAnyScript) }

func testAnyScript(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, id := range []string{"žluťoučký kůň", "注文-七", "a/b'c\"d;--", strings.Repeat("ü", limits.MessageID), " x ", "🧾"} {
		k := inbox.Key{Source: id, MessageID: id}
		f.check(f.Once(f.ctx(), k, f.write("x")))
		f.check(f.Once(f.ctx(), k, f.write("x")))
		f.state(k, inbox.Done, 2, 1)
	}
	f.effects(6)
}

// D-2, D-50
func TestBadKeys(t *testing.T) { dbtest.Each(t, testBadKeys) }

func testBadKeys(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for field, k := range map[string]inbox.Key{
		"source":     {MessageID: "a"},
		"message id": {Source: "a", MessageID: "  "},
		"hash":       {Source: "a", MessageID: "a", Hash: make([]byte, limits.Hash+1)},
	} {
		_, seen := f.AlreadyProcessed(f.ctx(), k)
		_, marked := f.MarkDead(f.ctx(), k)
		_, revived := f.Revive(f.ctx(), k)
		_, enqueued := f.Enqueue(f.ctx(), inbox.Message{Key: k, Topic: "t"})
		for _, err := range []error{f.Once(f.ctx(), k, f.write("x")), f.Attempt(f.ctx(), k, nil), seen, marked, revived, enqueued} {
			var invalid *engine.InvalidError
			if !errors.As(err, &invalid) || invalid.Field() != field {
				t.Errorf("want an invalid %s, got %v", field, err)
			}
		}
	}
	long := inbox.Key{Source: strings.Repeat("ü", limits.Source+1), MessageID: "a"}
	f.is(f.Once(f.ctx(), long, f.write("x")), engine.ErrInvalid)
	list, err := engine.Collect(f.List(f.ctx(), inbox.ListOptions{}), 100)
	f.check(err)
	if len(list) != 0 {
		t.Fatalf("stored %v", list)
	}
}

// D-52
func TestDuplicatesAreNoAttempts(t *testing.T) { dbtest.Each(t, testDuplicatesAreNoAttempts) }

func testDuplicatesAreNoAttempts(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 2}})
	for range 30 {
		if done, err := f.AlreadyProcessed(f.ctx(), key("a")); done || err != nil {
			t.Fatal(done, err)
		}
	}
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	for range 30 {
		f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	}
	f.state(key("a"), inbox.Done, 61, 1)
}

// D-51: a handler's messages exist exactly if its effect does.
func TestOnceEnqueues(t *testing.T) { dbtest.Each(t, testOnceEnqueues) }

func testOnceEnqueues(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	box := parts.NewOutbox(f.db.DB, worker.Options{})
	for _, err := range []error{errDown, nil, nil} {
		got := f.Once(f.ctx(), key("a"), func(ctx context.Context, tx engine.Tx) error {
			if _, err := box.EnqueueTx(ctx, tx, outbox.Message{Topic: "paid"}); err != nil {
				return err
			}
			return err
		})
		f.is(got, err)
	}
	if c, err := box.Count(f.ctx()); err != nil || c.Ready != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
}

// D-242: a function whose own statement lost against another transaction runs again, and what the attempts
// that lost wrote is gone.
func TestOnceLost(t *testing.T) { dbtest.Each(t, testOnceLost) }

func testOnceLost(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	calls := 0
	f.check(f.Once(f.ctx(), key("a"), func(ctx context.Context, tx engine.Tx) error {
		if err := f.effect(ctx, tx, "a"); err != nil {
			return err
		}
		if calls++; calls < 3 {
			return fmt.Errorf("place order: %w", deadlock{})
		}
		return nil
	}))
	f.effects(1)
	if f.state(key("a"), inbox.Done, 1, 1); calls != 3 {
		t.Errorf("%d calls", calls)
	}
}

// deadlock is an error of a driver's.
type deadlock struct{}

func (deadlock) Error() string    { return "deadlock detected" }
func (deadlock) SQLState() string { return "40P01" }
