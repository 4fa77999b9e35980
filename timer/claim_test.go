package timer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// D-73: a claimed timer that is failed is over, is not dispatched, says why and
// frees its key.
func TestFail(t *testing.T) { dbtest.Each(t, testFail) }

func testFail(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(timer.Timer{Topic: "t", Due: f.past(), Key: "k"})
	other := f.put(timer.Timer{Topic: "t", Due: f.past()})
	owner, _ := f.claim(2)
	f.touched(0)(f.WorkQueue().Fail(f.ctx(), outbox.NewOwnerToken(), nil, id))
	f.touched(1)(f.WorkQueue().Fail(f.ctx(), owner, errors.New("no such address"), id, id))
	f.touched(0)(f.WorkQueue().Fail(f.ctx(), owner, nil, id))
	f.touched(0)(f.WorkQueue().Ack(f.ctx(), owner, id))
	if got := f.get(id, timer.Failed); got.EndedAt.IsZero() || !got.LockedUntil.IsZero() || got.LastError != "no such address" || got.Status != "failed" {
		t.Fatalf("failed: %+v", got)
	}
	f.touched(1)(f.WorkQueue().Fail(f.ctx(), owner, nil, other))
	listed, err := engine.Collect(f.List(f.ctx(), timer.ListOptions{Status: timer.Failed}), 100)
	f.check(err)
	f.same(idsOf(listed), other, id)
	if r := f.shown()[id.String()]; r.code != 3 || r.status != "Failed" {
		t.Errorf("shown as %+v", r)
	}
	f.changed(false)(f.Cancel(f.ctx(), id))
	f.changed(false)(f.Reschedule(f.ctx(), id, f.past()))
	f.get(f.put(timer.Timer{Topic: "t", Due: f.past(), Key: "k"}), timer.Scheduled)
	f.fires(1)
	f.noMessage(id)
}

// D-73: a claim hands timers out under a lease, whole, and an ack ends them
// without a message.
func TestClaimAck(t *testing.T) { dbtest.Each(t, testClaimAck) }

func testClaimAck(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	want := f.whole()
	id := f.put(want)
	owner := outbox.NewOwnerToken()
	got, err := f.WorkQueue().Claim(f.ctx(), owner, lease, 10)
	f.check(err)
	if len(got) != 1 || got[0].Status != timer.Claimed || got[0].Owner != owner || got[0].RetryCount != 0 {
		t.Fatalf("claimed %+v", got)
	}
	if left := got[0].LockedUntil.Sub(f.now()); left > lease || left < lease/2 {
		t.Fatalf("the lease ends in %v", left)
	}
	f.isWhole(got[0].Timer, want, id)
	f.claim(0)
	f.touched(1)(f.WorkQueue().Ack(f.ctx(), owner, id))
	if got := f.get(id, timer.Fired); got.EndedAt.IsZero() || !got.LockedUntil.IsZero() {
		t.Fatalf("acked: %+v", got)
	}
	f.touched(0)(f.WorkQueue().Ack(f.ctx(), owner, id))
	f.fires(0)
	f.noMessage(id)
}

// D-73, D-21: no more than asked for, first due first, and none before its time.
func TestClaimOrder(t *testing.T) { dbtest.Each(t, testClaimOrder) }

func testClaimOrder(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.putN(10)
	late := f.put(timer.Timer{Topic: "t", Due: f.future()})
	first := f.put(timer.Timer{Topic: "t", Due: f.past().Add(-time.Minute)})
	_, got := f.claim(1)
	f.same(got, first)
	_, got = f.claim(3)
	f.same(got, ids[:3]...)
	owner := outbox.NewOwnerToken()
	rest, err := f.WorkQueue().Claim(f.ctx(), owner, lease, 1_000_000)
	f.check(err)
	f.same(idsOf(rest), ids[3:]...)
	f.get(late, timer.Scheduled)
}

// D-73: a token that is used for several claims, as the seed's sample does, gets
// each timer once.
func TestClaimSameOwner(t *testing.T) { dbtest.Each(t, testClaimSameOwner) }

func testClaimSameOwner(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.putN(4)
	owner := outbox.NewOwnerToken()
	for _, want := range [][]timer.ID{ids[:2], ids[2:], nil} {
		got, err := f.WorkQueue().Claim(f.ctx(), owner, lease, 2)
		f.check(err)
		f.same(idsOf(got), want...)
	}
	f.touched(4)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
}

// D-73: what is claimed is nobody else's: not dispatched, not cancelled, not
// rescheduled.
func TestClaimedIsNotDispatched(t *testing.T) { dbtest.Each(t, testClaimedIsNotDispatched) }

func testClaimedIsNotDispatched(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.putN(5)
	owner, got := f.claim(3)
	f.same(got, ids[:3]...)
	f.fires(2)
	for _, id := range got {
		f.noMessage(id)
		f.changed(false)(f.Cancel(f.ctx(), id))
		f.changed(false)(f.Reschedule(f.ctx(), id, f.past()))
	}
	f.claim(0)
	f.touched(3)(f.WorkQueue().Ack(f.ctx(), owner, got...))
	f.fires(0)
}

// D-13, D-73: the owner token is the fence.
func TestForeignTokens(t *testing.T) { dbtest.Each(t, testForeignTokens) }

func testForeignTokens(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.putN(2)
	owner, ids := f.claim(2)
	for _, foreign := range []outbox.OwnerToken{outbox.NewOwnerToken(), {}} {
		f.touched(0)(f.WorkQueue().Ack(f.ctx(), foreign, ids...))
		f.touched(0)(f.WorkQueue().Abandon(f.ctx(), foreign, nil, ids...))
		f.touched(0)(f.WorkQueue().Abandon(f.ctx(), foreign, outbox.RetryAfter(0, nil), ids...))
	}
	f.get(ids[0], timer.Claimed)
	f.touched(2)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
}

// D-23, D-73: ids given twice, unknown or in other states are ignored.
func TestDoubledIDs(t *testing.T) { dbtest.Each(t, testDoubledIDs) }

func testDoubledIDs(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for name, settle := range f.settlings() {
		f.putN(3)
		owner, ids := f.claim(2)
		_, others := f.claim(1)
		more := slices.Concat(ids, ids, others, []timer.ID{{}, {1}})
		n, err := settle(owner, more...)
		if err != nil || n != 2 {
			t.Fatalf("%s: %d, %v", name, n, err)
		}
		f.get(others[0], timer.Claimed)
		f.dispatch()
	}
}

func (f *fixture) settlings() map[string]func(outbox.OwnerToken, ...timer.ID) (int64, error) {
	return map[string]func(outbox.OwnerToken, ...timer.ID) (int64, error){
		"ack": func(o outbox.OwnerToken, ids ...timer.ID) (int64, error) {
			return f.WorkQueue().Ack(f.ctx(), o, ids...)
		},
		"abandon": func(o outbox.OwnerToken, ids ...timer.ID) (int64, error) {
			return f.WorkQueue().Abandon(f.ctx(), o, errors.New("no"), ids...)
		},
		"abandon at once": func(o outbox.OwnerToken, ids ...timer.ID) (int64, error) {
			return f.WorkQueue().Abandon(f.ctx(), o, outbox.RetryAfter(0, errors.New("no")), ids...)
		},
	}
}

// D-7, D-73: an abandoned timer comes back, with what went wrong.
func TestAbandon(t *testing.T) { dbtest.Each(t, testAbandon) }

func testAbandon(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	due := f.past().Truncate(time.Microsecond)
	id := f.put(timer.Timer{Topic: "t", Due: due})
	for i, cause := range []error{errors.New(strings.Repeat("ü", 2000)), nil, errors.New("last")} {
		owner, _ := f.claim(1)
		f.touched(1)(f.WorkQueue().Abandon(f.ctx(), owner, outbox.RetryAfter(0, cause), id))
		got := f.get(id, timer.Scheduled)
		if got.RetryCount != i+1 || !got.Due.Equal(due) || got.Owner != (outbox.OwnerToken{}) || !got.LockedUntil.IsZero() {
			t.Fatalf("abandoned %d times: %+v", i+1, got)
		}
		if want := 2048; len(got.LastError) > want || cause != nil && !strings.HasPrefix(cause.Error(), got.LastError) || got.LastError == "" {
			t.Fatalf("the error is %d bytes: %.20q", len(got.LastError), got.LastError)
		}
		f.touched(0)(f.WorkQueue().Ack(f.ctx(), owner, id))
	}
	f.changed(true)(f.Cancel(f.ctx(), id))
}

// D-14, D-73, D-560: 1, 2, 4, … 60 s.
func TestAbandonBackoff(t *testing.T) { dbtest.Each(t, testAbandonBackoff) }

func testAbandonBackoff(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(f.due())
	for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		want := time.Duration(seconds) * time.Second
		owner, _ := f.claim(1)
		before := f.now()
		f.touched(1)(f.WorkQueue().Abandon(f.ctx(), owner, nil, id))
		got := f.get(id, timer.Scheduled).NextAttemptAt
		if slack := time.Second / 10; got.Before(before.Add(want-slack)) || got.After(f.now().Add(want+slack)) {
			t.Fatalf("backoff of %v, want %v", got.Sub(before), want)
		}
		if seconds > 8 { // the first may be over by now, on a busy machine
			f.claim(0)
			f.fires(0)
		}
		f.changed(true)(f.Reschedule(f.ctx(), id, f.past()))
	}
}

const short = 20 * time.Millisecond

// expired claims n timers under a lease that has run out.
func (f *fixture) expired(n int) (outbox.OwnerToken, []timer.ID) {
	f.t.Helper()
	owner, ids := f.claimFor(short, n)
	f.pass(short + 5*time.Millisecond)
	return owner, ids
}

// D-12, D-73: a lease that ran out heals by itself: the built-in dispatch takes
// what a crashed program had claimed.
func TestExpiredClaim(t *testing.T) { dbtest.Each(t, testExpiredClaim) }

func testExpiredClaim(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.putN(3)
	owner, ids := f.expired(3)
	f.fires(3)
	for _, id := range ids {
		f.message(id)
		if got := f.get(id, timer.Fired); got.RetryCount != 0 || got.LastError != "" {
			t.Fatalf("fired as %+v", got)
		}
	}
	f.touched(0)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
	f.touched(0)(f.WorkQueue().Abandon(f.ctx(), owner, nil, ids...))
	f.fires(0)
}

// D-13, D-73: an ack that comes late still counts if nobody had the timer since.
func TestAckAfterLease(t *testing.T) { dbtest.Each(t, testAckAfterLease) }

func testAckAfterLease(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.putN(1)
	owner, ids := f.expired(1)
	f.touched(1)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
	f.fires(0)
	f.noMessage(ids[0])
}

// D-73
func TestReap(t *testing.T) { dbtest.Each(t, testReap) }

func testReap(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.putN(4)
	f.touched(0)(f.WorkQueue().ReapExpired(f.ctx()))
	held, _ := f.claim(1)
	owner, ids := f.expired(3)
	f.touched(3)(f.WorkQueue().ReapExpired(f.ctx()))
	f.touched(0)(f.WorkQueue().ReapExpired(f.ctx()))
	f.touched(0)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
	for _, id := range ids {
		if got := f.get(id, timer.Scheduled); got.RetryCount != 0 || got.Owner == held || !got.LockedUntil.IsZero() {
			t.Fatalf("reaped: %+v", got)
		}
	}
	f.claim(3)
}

// D-12, D-73: and so does the next claim; the one before has lost them.
func TestClaimTakesExpired(t *testing.T) { dbtest.Each(t, testClaimTakesExpired) }

func testClaimTakesExpired(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.putN(2)
	old, ids := f.expired(2)
	owner, again := f.claim(2)
	slices.SortFunc(again, func(a, b timer.ID) int { return strings.Compare(a.String(), b.String()) })
	f.same(again, ids...)
	f.touched(0)(f.WorkQueue().Ack(f.ctx(), old, ids...))
	f.touched(2)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
}

// D-73: who fires timers itself has nothing for a scheduler to do.
func TestSelfDispatch(t *testing.T) { dbtest.Each(t, testSelfDispatch) }

func testSelfDispatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e, timer.Options{SelfDispatch: true})
	if n := len(f.Sources); n != 0 {
		t.Fatalf("%d sources", n)
	}
	ids := f.putN(1)
	_, got := f.claim(1)
	f.same(got, ids...)
}
