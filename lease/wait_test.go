package lease_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/lease"
)

// got is what AcquireWait returned.
type got struct {
	l   *lease.Lease
	err error
}

// queue puts a waiter behind those in line; on a slow machine it may have got the lease by then.
func (f *fixture) queue(ctx context.Context, behind int) <-chan got {
	f.t.Helper()
	c := make(chan got, 1)
	go func() {
		l, err := f.AcquireWait(ctx, name, lease.Options{Duration: time.Hour})
		c <- got{l, err}
	}()
	dbtest.Until(f.t, "the line is as long as it should be", func() bool { return len(c) > 0 || f.info().Waiting == behind+1 })
	return c
}

// queueAsleep puts a waiter in line that wakes only if it is woken, and lets it
// fall asleep.
func (f *fixture) queueAsleep(behind int) <-chan got {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.ctx(), 2*time.Minute)
	f.t.Cleanup(cancel)
	f.gate.OnlyWoken = true
	before := f.gate.Asleep.Load()
	c := f.queue(ctx, behind)
	dbtest.Until(f.t, "the waiter sleeps", func() bool { return f.gate.Asleep.Load() > before })
	return c
}

// D-60, D-61: those who wait get it in the order in which they came.
func TestWaitInLine(t *testing.T) { dbtest.Each(t, testWaitInLine) }

func testWaitInLine(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	var line []<-chan got
	for i := range 5 {
		line = append(line, f.another().queue(t.Context(), i))
	}
	if held := f.held(); held.Waiting != 5 {
		t.Fatalf("%d wait", held.Waiting)
	}
	for i, c := range line {
		last := l.Token()
		f.close(l)
		next := <-c
		l = f.mine(next.l, next.err)
		if l.Token() != last+1 {
			t.Fatalf("number %d got token %d after %d", i, l.Token(), last)
		}
		if i := f.info(); i.Waiting != len(line)-int(nth(l.Token()))+1 {
			t.Fatalf("with token %d, %d wait", l.Token(), i.Waiting)
		}
	}
}

// D-61: a release wakes the next, in this process and in another: these do not
// wake by themselves.
func TestWaiterIsWoken(t *testing.T) { dbtest.Each(t, testWaiterIsWoken) }

func testWaiterIsWoken(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, w := range []*fixture{over(t, f.db, f.gate.DB), f.wakeable()} {
		for range 3 {
			l := f.acquire(lease.Options{Duration: time.Hour})
			first, second := w.queueAsleep(0), w.queueAsleep(1)
			for _, c := range []<-chan got{first, second} {
				f.close(l)
				next := <-c
				l = f.mine(next.l, next.err)
			}
			f.close(l)
		}
	}
}

// D-60: one who waits gets what a dead holder left, whole.
func TestWaitForExpiry(t *testing.T) { dbtest.Each(t, testWaitForExpiry) }

func testWaitForExpiry(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	dead := f.dying()
	c := f.queue(t.Context(), 0)
	f.db.Pass(short)
	next := <-c
	if l := f.mine(next.l, next.err); l.Token() != dead.Token()+1 || time.Until(l.Deadline()) < 50*time.Minute {
		t.Fatalf("token %d after %d, for %v", l.Token(), dead.Token(), time.Until(l.Deadline()))
	}
}

// D-61: while someone waits, Acquire does not get a lease that is just free.
func TestNoPushingIn(t *testing.T) { dbtest.Each(t, testNoPushingIn) }

func testNoPushingIn(t *testing.T, e dbtest.Engine) {
	f, w := open(t, e), (*fixture)(nil)
	l := f.acquire(lease.Options{Duration: time.Hour})
	w = f.another()
	c := w.queue(t.Context(), 0)
	w.gate.Fail("lease/acquire", &engine.Error{Op: "lease/acquire", Class: engine.ErrBusy, Err: errors.New("not now")})
	f.close(l)
	if held := f.held(); held.Owner != "" || !held.Until.IsZero() || held.Waiting != 1 {
		t.Fatalf("held: %+v", held)
	}
	w.gate.Rule("lease/acquire", nil)
	next := <-c
	f.mine(next.l, next.err)
}

// D-61
func TestLeaveLine(t *testing.T) { dbtest.Each(t, testLeaveLine) }

func testLeaveLine(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	first := f.another().queue(ctx, 0)
	second := f.another().queue(t.Context(), 1)
	cancel()
	if g := <-first; !errors.Is(g.err, context.Canceled) || g.l != nil {
		t.Fatalf("a cancelled wait returned %v", g.err)
	}
	f.waiting(1)
	f.close(l)
	next := <-second
	f.mine(next.l, next.err)
	f.waiting(0)
}

// D-61: when the next in line leaves while the lease is free, the one behind is woken.
func TestLeaveAsNext(t *testing.T) { dbtest.Each(t, testLeaveAsNext) }

func testLeaveAsNext(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	w := f.wakeable()
	first := w.queue(ctx, 0)
	second := f.wakeable().queueAsleep(1)
	w.gate.Fail("lease/acquire", &engine.Error{Op: "lease/acquire", Class: engine.ErrBusy, Err: errors.New("not now")})
	f.close(l)
	cancel()
	if g := <-first; !errors.Is(g.err, context.Canceled) {
		t.Fatal(g.err)
	}
	next := <-second
	f.mine(next.l, next.err)
}

// D-61: a waiter that died holds the others up for a few seconds only.
func TestDeadWaiter(t *testing.T) { dbtest.Each(t, testDeadWaiter) }

func testDeadWaiter(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	w := f.another()
	dead := w.queue(ctx, 0)
	for _, op := range []string{"lease/acquire", "lease/release"} { // the latter: it cannot leave the line either
		w.gate.Fail(op, errors.New("dead"))
	}
	second := f.another().queue(t.Context(), 1)
	cancel()
	<-dead
	f.close(l)
	if held := f.held(); held.Owner != "" {
		t.Fatalf("held: %+v", held)
	}
	f.db.Pass(7 * time.Second)
	next := <-second
	f.mine(next.l, next.err)
	f.waiting(0)
}

// D-6: an outage does not end the wait.
func TestWaitThroughOutage(t *testing.T) { dbtest.Each(t, testWaitThroughOutage) }

func testWaitThroughOutage(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	w := f.another()
	c := w.queue(t.Context(), 0)
	w.gate.Fail("lease/acquire", &engine.Error{Op: "lease/acquire", Class: engine.ErrUnreachable, Err: errors.New("away")})
	f.close(l)
	tries := len(w.gate.Seen("lease/acquire"))
	dbtest.Until(t, "it has tried without result twice", func() bool { return len(w.gate.Seen("lease/acquire")) > tries+1 })
	w.gate.Rule("lease/acquire", nil)
	next := <-c
	f.mine(next.l, next.err)
}

// D-60, D-61: of many that wait at once each gets it once, one at a time.
func TestEveryWaiter(t *testing.T) { dbtest.Each(t, testEveryWaiter) }

func testEveryWaiter(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	handles := []*fixture{f, f.another(), f.another()}
	const n = 20
	tokens := make(chan int64, n)
	var inside atomic.Int64
	for i := range n {
		go func() {
			h := handles[i%len(handles)]
			l, err := h.AcquireWait(t.Context(), name, lease.Options{Duration: time.Hour})
			if err != nil {
				t.Error(err)
				tokens <- 0
				return
			}
			if inside.Add(1) != 1 {
				t.Error("two have it at once")
			}
			inside.Add(-1)
			_ = l.Close(t.Context())
			tokens <- l.Token()
		}()
	}
	seen := map[int64]bool{}
	for range n {
		seen[<-tokens] = true
	}
	if len(seen) != n || nth(f.info().Token) != n {
		t.Fatalf("%d of %d got it, the last token is %d", len(seen), n, f.info().Token)
	}
}
