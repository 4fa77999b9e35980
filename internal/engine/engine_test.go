package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// D-3: transient failures are tried five times with growing delays, others once.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			err      error
			attempts int
		}{
			{nil, 1}, {engine.ErrUnique, 1}, {engine.ErrCommitUnknown, 1}, {engine.ErrConnLost, 1}, {engine.ErrTimeout, 1}, {errors.New("other"), 1},
			{engine.ErrBusy, 5}, {engine.ErrDeadlock, 5},
			{&engine.Error{Class: engine.ErrSerialization, Err: errors.New("x")}, 5},
		} {
			var at []time.Time
			err := engine.Retry(t.Context(), func() error { at = append(at, time.Now()); return c.err })
			if !errors.Is(err, c.err) || len(at) != c.attempts {
				t.Errorf("%v: %d attempts, then %v", c.err, len(at), err)
			}
			for i := 2; i < len(at); i++ {
				if at[i].Sub(at[i-1]) <= at[i-1].Sub(at[i-2]) {
					t.Errorf("%v: pause %d did not grow", c.err, i)
				}
			}
		}
		n := 0
		if err := engine.Retry(t.Context(), func() error {
			if n++; n < 3 {
				return engine.ErrBusy
			}
			return nil
		}); err != nil || n != 3 {
			t.Errorf("recovered after %d attempts: %v", n, err)
		}
	})
}

// D-3: a context that ends between attempts ends them, with the last error.
func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := engine.Retry(ctx, func() error { n++; cancel(); return engine.ErrBusy })
		if !errors.Is(err, engine.ErrBusy) || n != 1 {
			t.Errorf("%d attempts, then %v", n, err)
		}
	})
}

// D-4, D-6: work that was sent goes on for the grace period after its caller's context
// ended, and nothing exceeds its limit.
func TestDetach(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		lasts := func(limit time.Duration, cancelAfter time.Duration, finish time.Duration) time.Duration {
			parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
			defer cancel()
			began := time.Now()
			ctx, stop := engine.Detach(parent, limit)
			if ctx.Value(key{}) != "v" {
				t.Error("the values are lost")
			}
			if cancelAfter > 0 {
				time.AfterFunc(cancelAfter, cancel)
			}
			if finish > 0 {
				time.AfterFunc(finish, stop)
			}
			<-ctx.Done()
			stop()
			return time.Since(began)
		}
		for _, c := range []struct{ limit, cancel, finish, want time.Duration }{
			{time.Minute, 0, 0, time.Minute},
			{time.Minute, time.Second, 0, time.Second + engine.Grace},
			{2 * time.Second, time.Second, 0, 2 * time.Second},
			{time.Minute, time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond},
		} {
			if got := lasts(c.limit, c.cancel, c.finish); got != c.want {
				t.Errorf("%+v: lasted %v", c, got)
			}
		}
		ctx, stop := engine.Detach(context.Background(), time.Hour)
		stop()
		if ctx.Err() == nil {
			t.Error("stop did not end it")
		}
	})
}

// D-14, OBX-061, OBX-062: the delays are 1, 2, 4, 8, 16, 32 and 60 s, and stay 60 s,
// without overflow at a million failures.
func TestBackoffDoublesToAMinute(t *testing.T) {
	for failures, seconds := range map[int]int{
		math.MinInt: 1, -1: 1, 0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 16, 6: 32, 7: 60, 8: 60, 9: 60, 10: 60,
		30: 60, 31: 60, 34: 60, 62: 60, 63: 60, 64: 60, 65: 60, 128: 60, 1_000_000: 60, math.MaxInt: 60,
	} {
		if got := engine.Backoff(failures); got != time.Duration(seconds)*time.Second {
			t.Errorf("Backoff(%d) = %v, want %d s", failures, got, seconds)
		}
	}
}

// D-6: jitter stays within its share.
func TestJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		d := engine.Jitter(time.Second, 0.2)
		if d < 800*time.Millisecond || d > 1200*time.Millisecond {
			t.Fatalf("%v", d)
		}
		seen[d] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d different pauses", len(seen))
	}
}

// D-5: an error names its operation and class, wraps the driver's error, and is one line.
func TestErrorText(t *testing.T) {
	driver := errors.New("driver\nsays so")
	err := fmt.Errorf("outer: %w", &engine.Error{Op: "outbox/claim", Class: engine.ErrBusy, Err: driver})
	if !errors.Is(err, engine.ErrBusy) || !errors.Is(err, driver) || errors.Is(err, engine.ErrUnique) {
		t.Errorf("not what it is: %v", err)
	}
	for _, want := range []string{"outbox/claim", engine.ErrBusy.Error(), "driver says so"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %q", want, err)
		}
	}
	plain := &engine.Error{Op: "o", Err: driver}
	if !errors.Is(plain, driver) || plain.Error() != "o: driver says so" {
		t.Errorf("without a class: %q", plain)
	}
}

// D-3, D-6: which failures are worth another attempt, and which mean that the database
// itself could not be used.
func TestClasses(t *testing.T) {
	for class, want := range map[error][2]bool{ // retryable, unavailable
		engine.ErrUnique: {false, false}, engine.ErrReadOnly: {false, true}, engine.ErrNoPrimary: {false, true}, engine.ErrNoRoom: {false, true}, engine.ErrSchemaMissing: {false, false}, engine.ErrClosed: {false, false},
		engine.ErrDeadlock: {true, true}, engine.ErrSerialization: {true, true}, engine.ErrBusy: {true, true},
		engine.ErrTimeout: {false, true}, engine.ErrConnLost: {false, true}, engine.ErrUnreachable: {false, true}, engine.ErrCommitUnknown: {false, true},
	} {
		err := &engine.Error{Op: "x", Class: class, Err: errors.New("y")}
		if got := [2]bool{engine.Retryable(err), engine.Unavailable(err)}; got != want {
			t.Errorf("%v: retryable and away are %v, want %v", class, got, want)
		}
	}
}

// OBX-100: a notification wakes all subscribers of its queue, once.
func TestBell(t *testing.T) {
	var b engine.Notifier
	b.Notify("nobody")
	b.NotifyAll()
	one, two, other := b.Subscribe("q"), b.Subscribe("q"), b.Subscribe("other")
	notified := func(c chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	b.Notify("q")
	b.Notify("q") // merged
	if !notified(one) || !notified(two) || notified(other) || notified(one) {
		t.Error("a notification reached the wrong ones, or came twice")
	}
	b.Unsubscribe("q", one)
	b.NotifyAll()
	if notified(one) || !notified(two) || !notified(other) {
		t.Error("ringing for all reached the wrong ones")
	}
	b.Unsubscribe("q", one)
	b.Unsubscribe("never", two)
	b.Notify("q")
	if !notified(two) {
		t.Error("leaving twice took somebody else away")
	}
}

func counter(from int64) (fetch func(context.Context) (int64, error), fetched func() int) {
	var mu sync.Mutex
	n := 0
	return func(context.Context) (int64, error) {
			mu.Lock()
			defer mu.Unlock()
			n++
			return from + int64(n-1)*engine.BlockSize, nil
		}, func() int {
			mu.Lock()
			defer mu.Unlock()
			return n
		}
}

// D-10: ids of one request are consecutive, a block is used up before the next is fetched,
// and a short remainder is not split.
func TestBlocks(t *testing.T) {
	fetch, fetched := counter(1)
	var b engine.Blocks
	if _, ok := b.TryTake(1); ok {
		t.Error("ids from no block")
	}
	for i, c := range []struct {
		n       int
		want    int64
		fetches int
	}{{1, 1, 1}, {10, 2, 1}, {engine.BlockSize - 11, 12, 1}, {1, 1 + engine.BlockSize, 2}, {engine.BlockSize, 1 + 2*engine.BlockSize, 3}, {5, 2 + engine.BlockSize, 3}} {
		lo, err := b.Take(t.Context(), c.n, fetch)
		if err != nil || lo != c.want || fetched() != c.fetches {
			t.Errorf("%d: %d ids from %d after %d fetches, error %v", i, c.n, lo, fetched(), err)
		}
	}
	if lo, ok := b.TryTake(2); !ok || lo != 7+engine.BlockSize {
		t.Errorf("what is left begins at %d", lo)
	}
	for _, n := range []int{0, -1, engine.BlockSize + 1} {
		if _, err := b.Take(t.Context(), n, fetch); err == nil {
			t.Errorf("took %d", n)
		}
		if _, ok := b.TryTake(n); ok {
			t.Errorf("tried and took %d", n)
		}
	}
	wrong := errors.New("wrong")
	if _, err := b.Take(t.Context(), engine.BlockSize, func(context.Context) (int64, error) { return 0, wrong }); !errors.Is(err, wrong) {
		t.Errorf("a failed fetch: %v", err)
	}
	if lo, ok := b.TryTake(1); !ok || lo != 9+engine.BlockSize {
		t.Error("a failed fetch took the rest of the block with it")
	}
}

// D-10: callers that need a block together share one; one whose context ends does not wait
// for it; and one inside a transaction waits for no other.
func TestBlocksWhileSomebodyFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b engine.Blocks
		slow, fetched := counter(1)
		fetch := func(ctx context.Context) (int64, error) { time.Sleep(time.Second); return slow(ctx) }
		seen := make(chan int64, 100)
		for range 100 {
			go func() {
				lo, err := b.Take(t.Context(), 1, fetch)
				if err != nil {
					t.Error(err)
				}
				seen <- lo
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err := b.Take(ctx, 1, fetch); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Millisecond {
			t.Errorf("gave up after %v: %v", time.Since(began), err)
		}
		if _, ok := b.TryTake(1); ok || time.Since(began) > 10*time.Millisecond {
			t.Error("TryTake waited")
		}
		time.Sleep(time.Minute)
		once := map[int64]bool{}
		for range 100 {
			once[<-seen] = true
		}
		if len(once) != 100 || fetched() > 1 {
			t.Errorf("%d different ids from %d blocks", len(once), fetched())
		}
	})
}

// D-10: the next block is fetched ahead, once, when half of this one is gone.
func TestBlocksAhead(t *testing.T) {
	fetch, fetched := counter(1)
	var b engine.Blocks
	if !b.Low() {
		t.Error("no block at all is not low")
	}
	take(t, &b, 1, fetch)
	if b.Low() {
		t.Error("a new block is low")
	}
	take(t, &b, engine.BlockSize/2, fetch)
	for range 2 {
		if err := b.Refill(t.Context(), fetch); err != nil {
			t.Fatal(err)
		}
	}
	if b.Low() || fetched() != 2 {
		t.Errorf("after %d fetches low: %v", fetched(), b.Low())
	}
	if lo, ok := b.TryTake(engine.BlockSize); !ok || lo != 1+engine.BlockSize {
		t.Errorf("the block ahead begins at %d, %v", lo, ok)
	}
}

// D-111: dropped ids are not used, nor are those that were requested before.
func TestBlocksDrop(t *testing.T) {
	fetch, _ := counter(1)
	var b engine.Blocks
	take(t, &b, 1, fetch)
	if err := b.Refill(t.Context(), fetch); err != nil {
		t.Fatal(err)
	}
	b.Drop()
	if _, ok := b.TryTake(1); ok {
		t.Error("ids of a block that was dropped")
	}
	stale := true
	lo, err := b.Take(t.Context(), 1, func(ctx context.Context) (int64, error) {
		if stale {
			stale = false
			b.Drop() // as when a change of the history is noticed meanwhile
			return 7, nil
		}
		return fetch(ctx)
	})
	if err != nil || lo == 7 {
		t.Errorf("took %d, which was asked for before: %v", lo, err)
	}
}

func take(t *testing.T, b *engine.Blocks, n int, fetch func(context.Context) (int64, error)) {
	t.Helper()
	if _, err := b.Take(t.Context(), n, fetch); err != nil {
		t.Fatal(err)
	}
}
