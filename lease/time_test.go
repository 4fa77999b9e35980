package lease_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
)

// bubble is leases on SQLite under a fake clock: the process's clock is the
// database's (D-1), so hours pass in moments, and moments are exact.
type bubble struct {
	*lease.Leases
	t    *testing.T
	gate *gate
}

func inBubble(t *testing.T, test func(b *bubble)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		dbtest.Migrate(t, db)
		gate := &gate{DB: db}
		test(&bubble{parts.NewLeases(gate, "", nil), t, gate})
	})
}

// hundred makes per cents of a lease seconds.
const hundred = 100 * time.Second

func (b *bubble) acquire(opts lease.Options) *lease.Lease {
	b.t.Helper()
	if opts.Duration == 0 {
		opts.Duration = hundred
	}
	l, err := b.Acquire(b.t.Context(), "n", opts)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

func (b *bubble) close(l *lease.Lease) {
	b.t.Helper()
	if err := l.Close(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// lostAfter insists on a lease being lost after so long, and not before.
func (b *bubble) lostAfter(l *lease.Lease, from time.Time, d time.Duration) {
	b.t.Helper()
	<-l.Context().Done()
	if got := time.Since(from); got < d || got > d+100*time.Millisecond {
		b.t.Errorf("lost after %v, want %v", got, d)
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, lease.ErrLost) || !errors.Is(l.Err(), lease.ErrLost) {
		b.t.Errorf("the cause is %v, the error %v", cause, l.Err())
	}
}

// D-62: renewals start at 60 % or whatever was asked for, never later, and at
// most a tenth of what is left earlier.
func TestRenewalSchedule(t *testing.T) {
	for _, at := range []float64{0, 0.1, 0.6, 0.9} {
		inBubble(t, func(b *bubble) {
			want := at
			if at == 0 {
				want = 0.6
			}
			last := time.Now()
			l := b.acquire(lease.Options{RenewAt: at})
			time.Sleep(20*hundred + time.Second)
			if l.Err() != nil {
				t.Fatal(l.Err())
			}
			b.close(l)
			seen := b.gate.Seen("lease/renew")
			if len(seen) < 20 {
				t.Fatalf("%d renewals", len(seen))
			}
			latest := time.Duration(want * float64(hundred))
			earliest := latest - time.Duration(0.1*min(want, 1-want)*float64(hundred)) - time.Millisecond
			different := map[time.Duration]bool{}
			for _, s := range seen {
				gap := s.Sub(last)
				if gap < earliest || gap > latest+10*time.Millisecond {
					t.Errorf("renewed at %v: after %v, want %v to %v", want, gap, earliest, latest)
				}
				different[gap.Round(time.Millisecond)] = true
				last = s
			}
			if len(different) < 5 {
				t.Errorf("no jitter: %v", different)
			}
		})
	}
}

// D-62: a holder that cannot reach the database gives up when the lease ends by
// its own clock, counted from before the last request that succeeded.
func TestLostWithTheTrust(t *testing.T) {
	for what, cut := range map[string]func(g *gate){
		"errors":  func(g *gate) { g.Fail("lease/renew", errors.New("down")) },
		"silence": func(g *gate) { g.Block("lease/renew") },
		"ignores cancellation": func(g *gate) {
			g.Rule("lease/renew", func(context.Context) error { time.Sleep(3 * hundred); return errors.New("late") })
		},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				l := b.acquire(lease.Options{})
				time.Sleep(70 * time.Second)
				renewed := b.gate.Seen("lease/renew")
				if len(renewed) != 1 || !l.Deadline().Equal(renewed[0].Add(hundred)) {
					t.Fatalf("renewed at %v, trusted until %v", renewed, l.Deadline())
				}
				cut(b.gate)
				b.lostAfter(l, renewed[0], hundred)
				if tries := len(b.gate.Seen("lease/renew")) - 1; tries < 4 || tries > 60 {
					t.Errorf("tried %d times", tries)
				}
				b.close(l)
			})
		})
	}
}

// D-62, D-63: a lease that took long to grant is renewed at once; a database that no longer
// answers then keeps the caller as long as a lease lasts, and no longer.
func TestSilenceAfterASlowGrant(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.gate.Rule("lease/acquire", func(context.Context) error { time.Sleep(hundred / 5); return nil })
		b.gate.Block("lease/renew")
		sent := time.Now()
		l, err := b.Acquire(context.Background(), name, lease.Options{Duration: hundred})
		if l != nil || !errors.Is(err, lease.ErrLost) {
			t.Errorf("got %v and %v", l, err)
		}
		if took := time.Since(sent); took != hundred/5+hundred {
			t.Errorf("it took %v", took)
		}
	})
}

// D-62: neither one error nor a silence of some seconds loses a lease.
func TestNotLostByATransientFailure(t *testing.T) {
	inBubble(t, func(b *bubble) {
		l := b.acquire(lease.Options{})
		time.Sleep(50 * time.Second)
		b.gate.Fail("lease/renew", errors.New("down"))
		time.Sleep(30 * time.Second)
		b.gate.Rule("lease/renew", nil)
		time.Sleep(4 * time.Second)
		if left := time.Until(l.Deadline()); left < 90*time.Second {
			t.Fatalf("not renewed, %v left", left)
		}
		time.Sleep(46 * time.Second)
		b.gate.Block("lease/renew")
		time.Sleep(30 * time.Second)
		b.gate.Rule("lease/renew", nil)
		time.Sleep(6 * time.Second)
		if left := time.Until(l.Deadline()); left < 90*time.Second {
			t.Fatalf("not renewed after a silence, %v left", left)
		}
		b.close(l)
	})
}

// D-62: a single call that gets stuck does not eat the time that is left: others
// are sent beside it.
func TestOneStuckRenewal(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var first atomic.Bool
		b.gate.Rule("lease/renew", func(context.Context) error {
			if first.CompareAndSwap(false, true) {
				time.Sleep(hundred)
				return errors.New("late")
			}
			return nil
		})
		l := b.acquire(lease.Options{})
		time.Sleep(10 * hundred)
		if l.Err() != nil {
			t.Fatal(l.Err())
		}
		b.close(l)
	})
}

// D-62: what counts is when a renewal was sent, not when it was answered.
func TestSlowAnswers(t *testing.T) {
	inBubble(t, func(b *bubble) {
		l := b.acquire(lease.Options{})
		b.gate.Rule("lease/renew", func(context.Context) error { time.Sleep(4 * time.Second); return nil })
		time.Sleep(65 * time.Second)
		seen := b.gate.Seen("lease/renew")
		if len(seen) != 1 || !l.Deadline().Equal(seen[0].Add(hundred)) {
			t.Fatalf("sent at %v, trusted until %v", seen, l.Deadline())
		}
		b.close(l)
	})
}

// D-62: that the database says "not yours" ends a lease at the next renewal.
func TestForcedAwayIsNoticed(t *testing.T) {
	inBubble(t, func(b *bubble) {
		l := b.acquire(lease.Options{})
		start := time.Now()
		time.Sleep(10 * time.Second)
		if _, err := b.ForceRelease(b.t.Context(), "n"); err != nil {
			t.Fatal(err)
		}
		<-l.Context().Done()
		seen := b.gate.Seen("lease/renew")
		if len(seen) != 1 || time.Since(start) > 61*time.Second || !errors.Is(l.Err(), lease.ErrLost) {
			t.Fatalf("noticed after %v and %d renewals: %v", time.Since(start), len(seen), l.Err())
		}
		b.close(l)
	})
}

// D-62: a renewal by hand moves the next one.
func TestRenewByHand(t *testing.T) {
	inBubble(t, func(b *bubble) {
		l := b.acquire(lease.Options{})
		time.Sleep(50 * time.Second)
		if err := l.Renew(b.t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Second)
		if n := len(b.gate.Seen("lease/renew")); n != 1 {
			t.Fatalf("%d renewals", n)
		}
		b.gate.Fail("lease/renew", errors.New("down"))
		if err := l.Renew(b.t.Context()); err == nil || errors.Is(err, lease.ErrLost) || l.Err() != nil {
			t.Fatalf("one failure: %v, %v", err, l.Err())
		}
		b.close(l)
	})
}

// D-62, D-63: whoever got its answer late renews before it is told, so that it
// starts with a whole lease.
func TestLateGrant(t *testing.T) {
	for _, late := range []time.Duration{20 * time.Second, 99 * time.Second, 3 * hundred} {
		inBubble(t, func(b *bubble) {
			b.gate.Rule("lease/acquire", func(context.Context) error { time.Sleep(late); return nil })
			l := b.acquire(lease.Options{})
			if left := time.Until(l.Deadline()); left < 99*time.Second {
				t.Errorf("after %v only %v are left", late, left)
			}
			b.close(l)
		})
	}
}

// D-62, D-63: a grant that is heard of when it is over is no grant.
func TestGrantHeardTooLate(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.gate.After = func(op string) error {
			if op == "lease/acquire" {
				time.Sleep(2 * hundred)
			}
			return nil
		}
		b.gate.Fail("lease/renew", errors.New("down"))
		if l, err := b.Acquire(b.t.Context(), "n", lease.Options{Duration: hundred}); l != nil || !errors.Is(err, lease.ErrLost) {
			t.Fatalf("want ErrLost, got %v", err)
		}
	})
}

// D-61: a waiter is served the moment the dead holder's lease ends.
func TestServedWhenItEnds(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.gate.Fail("lease/renew", errors.New("dead"))
		from := time.Now()
		dead := b.acquire(lease.Options{})
		l, err := b.AcquireWait(b.t.Context(), "n", lease.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if late := time.Since(from) - hundred; late < 0 || late > 100*time.Millisecond {
			t.Errorf("served %v after the end", late)
		}
		b.close(dead)
		b.close(l)
	})
}
