package lease_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/lease"
)

// D-61: what a lease says of itself, and the others of it.
func TestLease(t *testing.T) { dbtest.Each(t, testLease) }

func testLease(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour, Owner: "ada"})
	if l.Name() != name || l.Owner() != "ada" || l.Token() < 1 || l.Err() != nil || l.Context().Err() != nil {
		t.Fatalf("acquired %+v", l)
	}
	if left := time.Until(l.Deadline()); left > time.Hour || left < 50*time.Minute {
		t.Fatalf("trusted for %v", left)
	}
	held := f.another().held()
	if held.Owner != "ada" || held.Waiting != 0 || !strings.Contains(held.Error(), name) || !strings.Contains(held.Error(), "ada") {
		t.Fatalf("held: %+v", held)
	}
	if i := f.info(); i.Status != lease.Held || i.Owner != "ada" || i.Token != l.Token() || !i.Until.Equal(held.Until) || i.Until.Sub(i.LastGranted).Round(time.Second) != time.Hour {
		t.Fatalf("the database says %+v", i)
	}
	f.close(l)
	f.ended(l, lease.ErrClosed)
	if i := f.info(); i.Status == lease.Held || i.Owner != "" || !i.Until.IsZero() || i.Token != l.Token() {
		t.Fatalf("after Close the database says %+v", i)
	}
}

// D-60: across release, expiry and force.
func TestTokenGrows(t *testing.T) { dbtest.Each(t, testTokenGrows) }

func testTokenGrows(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var last int64
	grown := func(token int64) {
		t.Helper()
		if token <= last {
			t.Fatalf("token %d after %d", token, last)
		}
		last = token
	}
	for range 3 {
		l := f.acquire(lease.Options{})
		grown(l.Token())
		f.close(l)
	}
	l := f.dying()
	grown(l.Token())
	f.db.Pass(short + 20*time.Millisecond)
	l = f.acquire(lease.Options{})
	grown(l.Token())
	if there, err := f.ForceRelease(t.Context(), name); !there || err != nil {
		t.Fatal(there, err)
	}
	grown(f.info().Token)
	grown(f.acquire(lease.Options{}).Token())
}

// D-60, D-62: renewing moves the end and keeps the token.
func TestRenew(t *testing.T) { dbtest.Each(t, testRenew) }

func testRenew(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	before, token, deadline := f.info(), l.Token(), l.Deadline()
	if err := l.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := f.info()
	if !after.Until.After(before.Until) || !after.LastGranted.Equal(before.LastGranted) || !l.Deadline().After(deadline) {
		t.Fatalf("from %+v to %+v", before, after)
	}
	if after.Token != token || l.Token() != token {
		t.Fatalf("the token went from %d to %d", token, after.Token)
	}
}

// D-62: "not yours" is final at once.
func TestRenewLost(t *testing.T) { dbtest.Each(t, testRenewLost) }

func testRenewLost(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	if _, err := f.another().ForceRelease(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if l.Err() != nil {
		t.Fatal("nobody could know yet")
	}
	if err := l.Renew(t.Context()); !errors.Is(err, lease.ErrLost) {
		t.Fatalf("want ErrLost, got %v", err)
	}
	f.ended(l, lease.ErrLost)
	if err := l.Renew(t.Context()); !errors.Is(err, lease.ErrLost) {
		t.Fatalf("a lost lease: want ErrLost, got %v", err)
	}
	f.close(l)
	f.ended(l, lease.ErrLost)
}

// D-62: though nobody else has taken it yet.
func TestRenewOver(t *testing.T) { dbtest.Each(t, testRenewOver) }

func testRenewOver(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: short})
	f.gate.Fail("lease/renew", errors.New("dead"))
	f.db.Pass(short + 20*time.Millisecond)
	f.gate.Rule("lease/renew", nil)
	if err := l.Renew(t.Context()); !errors.Is(err, lease.ErrLost) {
		t.Fatalf("want ErrLost, got %v", err)
	}
	f.ended(l, lease.ErrLost)
}

// D-61, D-62: a stale holder does not lengthen what is someone else's by now.
func TestRenewTaken(t *testing.T) { dbtest.Each(t, testRenewTaken) }

func testRenewTaken(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour, Owner: "ada"})
	if _, err := f.ForceRelease(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	f.acquire(lease.Options{Duration: 2 * time.Hour, Owner: "ada"})
	before := f.info()
	if err := l.Renew(t.Context()); !errors.Is(err, lease.ErrLost) {
		t.Fatalf("want ErrLost, got %v", err)
	}
	if after := f.info(); *after != *before {
		t.Fatalf("it made %+v of %+v", after, before)
	}
}

// D-61
func TestClose(t *testing.T) { dbtest.Each(t, testClose) }

func testClose(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.ended(l, lease.ErrClosed)
	next := f.another().acquire(lease.Options{})
	f.close(l)
	if i := f.info(); i.Status != lease.Held || i.Token != next.Token() {
		t.Fatalf("closing twice made it %+v", i)
	}
	if err := l.Renew(t.Context()); !errors.Is(err, lease.ErrClosed) {
		t.Fatalf("renewing a closed lease: %v", err)
	}
}

// D-61: only if it is still ours.
func TestCloseOnlyOurs(t *testing.T) { dbtest.Each(t, testCloseOnlyOurs) }

func testCloseOnlyOurs(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.dying()
	f.db.Pass(short + 20*time.Millisecond)
	next := f.acquire(lease.Options{Owner: "dying"}) // the name of the owner does not matter
	f.close(l)
	if i := f.info(); i.Status != lease.Held || i.Token != next.Token() {
		t.Fatalf("a stale holder released it: %+v", i)
	}
	if err := next.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// D-61: also when the holder's context has ended, as at a shutdown.
func TestCloseWithEndedContext(t *testing.T) { dbtest.Each(t, testCloseWithEndedContext) }

func testCloseWithEndedContext(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	f.acquire(lease.Options{})
}

// D-61
func TestNotReentrant(t *testing.T) { dbtest.Each(t, testNotReentrant) }

func testNotReentrant(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.acquire(lease.Options{Owner: "ada", Duration: time.Hour})
	if _, err := f.Acquire(t.Context(), name, lease.Options{Owner: "ada"}); !errors.Is(err, lease.ErrHeld) {
		t.Fatalf("the same owner again: %v", err)
	}
	if _, err := f.Acquire(t.Context(), strings.ToUpper(name), lease.Options{}); err != nil {
		t.Fatalf("names differ by case: %v", err)
	}
}

// D-65, D-2
func TestLimits(t *testing.T) { dbtest.Each(t, testLimits) }

func testLimits(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, c := range []struct {
		name  string
		opts  lease.Options
		field string
	}{
		{"", lease.Options{}, "name"},
		{" \t", lease.Options{}, "name"},
		{"a\x00b", lease.Options{}, "name"},
		{"\xff", lease.Options{}, "name"},
		{strings.Repeat("é", 256), lease.Options{}, "name"},
		{"x", lease.Options{Duration: time.Second - 1}, "duration"},
		{"x", lease.Options{Duration: -time.Hour}, "duration"},
		{"x", lease.Options{RenewAt: 0.09}, "renew at"},
		{"x", lease.Options{RenewAt: 0.91}, "renew at"},
		{"x", lease.Options{RenewAt: math.NaN()}, "renew at"},
		{"x", lease.Options{Owner: strings.Repeat("o", 256)}, "owner"},
	} {
		l, err := f.Acquire(t.Context(), c.name, c.opts)
		_, err2 := f.AcquireWait(t.Context(), c.name, c.opts)
		err3 := f.Elect(t.Context(), c.name, c.opts, nil)
		for _, err := range []error{err, err2, err3} {
			var invalid *engine.InvalidError
			if l != nil || !errors.As(err, &invalid) || !errors.Is(err, engine.ErrInvalid) || invalid.Field() != c.field {
				t.Errorf("%q, %+v: want an invalid %s, got %v", c.name, c.opts, c.field, err)
			}
		}
	}
	if all, err := engine.Collect(f.List(t.Context(), lease.ListOptions{}), 100); err != nil || len(all) != 0 {
		t.Fatalf("refused leases left %+v, %v", all, err)
	}
	for _, n := range []string{"x", strings.Repeat("é", 255), "a'b\"c%; --"} {
		l, err := f.Acquire(t.Context(), n, lease.Options{Duration: time.Second, RenewAt: 0.9, Owner: strings.Repeat("ö", 255)})
		if err != nil {
			t.Fatalf("%q: %v", n, err)
		}
		f.close(l)
	}
}

// D-61, D-63: of fifty that ask at once one gets it, be it a name that nobody
// ever had or one that was given back.
func TestOneWinner(t *testing.T) { dbtest.Each(t, testOneWinner) }

func testOneWinner(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	handles := []*fixture{f, f.another(), f.another(), f.another()}
	for round := range int64(4) {
		winners := make(chan *lease.Lease, 50)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range 50 {
			wg.Go(func() {
				<-start
				l, err := handles[i%len(handles)].Acquire(t.Context(), name, lease.Options{Duration: time.Hour})
				if err == nil {
					winners <- l
				} else if !errors.Is(err, lease.ErrHeld) {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		if len(winners) != 1 || nth(f.info().Token) != round+1 {
			t.Fatalf("%d have it, token %d", len(winners), f.info().Token)
		}
		f.close(<-winners)
	}
}

// D-61: a lease that was granted to someone who never heard of it is given back.
func TestUnheardGrant(t *testing.T) { dbtest.Each(t, testUnheardGrant) }

func testUnheardGrant(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	broken := errors.New("broken")
	var once atomic.Bool
	f.gate.After = func(op string) error {
		if op == "lease/acquire" && once.CompareAndSwap(false, true) {
			return broken
		}
		return nil
	}
	if _, err := f.Acquire(t.Context(), name, lease.Options{Duration: time.Hour}); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if l := f.acquire(lease.Options{}); nth(l.Token()) != 2 {
		t.Fatalf("token %d", l.Token())
	}
}

// D-61: the context of the call bounds the call alone.
func TestOutlivesContext(t *testing.T) { dbtest.Each(t, testOutlivesContext) }

func testOutlivesContext(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
	l, err := f.Acquire(ctx, name, lease.Options{Duration: time.Hour})
	f.mine(l, err)
	cancel()
	if err := l.Renew(t.Context()); err != nil || l.Context().Err() != nil || l.Context().Value(key{}) != "v" {
		t.Fatalf("the lease went with the call's context: %v", err)
	}
}
