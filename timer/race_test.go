package timer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
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

// schedule runs a scheduler in another handle on the database.
func (f *fixture) schedule(poll time.Duration) {
	f.t.Helper()
	timers := on(f.t, f.db, f.db.Another(f.t), timer.Options{}).Timers
	timers.Poll = poll
	f.runs(timers)
}

// runs runs a scheduler until the test ends.
func (f *fixture) runs(timers *parts.Timers) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- timers.Run(ctx) }()
	f.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			f.t.Errorf("the scheduler ended with %v", err)
		}
	})
}

// over waits until no timer is left that has yet to fire.
func (f *fixture) over() {
	f.t.Helper()
	dbtest.Until(f.t, "every timer is over", func() bool {
		var n int
		f.db.Row(f.t, "SELECT count(*) FROM "+f.db.Table("timers")+" WHERE status_code < 2", &n)
		return n == 0
	})
}

// scattered schedules n timers that are due over the next moments.
func (f *fixture) scattered(n int, within time.Duration) []timer.ID {
	f.t.Helper()
	all := make([]timer.Timer, n)
	for i := range all {
		all[i] = timer.Timer{Topic: "t", Due: f.now().Add(within * time.Duration(i) / time.Duration(n))}
	}
	ids, err := f.ScheduleBatch(f.ctx(), all)
	f.check(err)
	return ids
}

// firedUnless insists on each timer having one message, or none if it was stopped.
func (f *fixture) firedUnless(ids []timer.ID, stopped func(i int) bool) {
	f.t.Helper()
	f.over()
	got, n := f.deliver(), 0
	for i, id := range ids {
		want, status := 1, timer.Fired
		if stopped(i) {
			want, status = 0, timer.Cancelled
		}
		n += want
		if got[id] != want {
			f.t.Fatalf("timer %d was delivered %d times, want %d", i, got[id], want)
		}
		f.get(id, status)
	}
	if len(got) != n {
		f.t.Fatalf("%d messages for %d timers", len(got), n)
	}
}

// D-70: several schedulers and several cancellers at once: what was cancelled
// never arrives, and what could not be cancelled arrives once.
func TestCancelAgainstFire(t *testing.T) { dbtest.Each(t, testCancelAgainstFire) }

func testCancelAgainstFire(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n, cancellers = 400, 4
	ids := f.scattered(n, 250*time.Millisecond)
	handles := []*fixture{f, on(t, f.db, f.db.Another(t), timer.Options{})}
	for range 2 {
		f.schedule(0)
	}
	var cancelled [n]atomic.Bool
	f.together(cancellers, func(i int) error {
		for at := i; at < n; at += cancellers {
			yes, err := handles[i%2].Cancel(f.ctx(), ids[at])
			if err != nil {
				return err
			}
			cancelled[at].Store(yes)
		}
		return nil
	})
	f.firedUnless(ids, func(i int) bool { return cancelled[i].Load() })
}

// D-70: the same in callers' transactions, of which some are rolled back.
func TestTransactionsAgainstFire(t *testing.T) { dbtest.Each(t, testTransactionsAgainstFire) }

func testTransactionsAgainstFire(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n, cancellers = 120, 3
	ids := f.scattered(n, 250*time.Millisecond)
	for range 2 {
		f.schedule(50 * time.Millisecond)
	}
	var cancelled [n]atomic.Bool
	f.together(cancellers, func(i int) error {
		for at := i; at < n; at += cancellers {
			commit := at%2 == 0
			yes, err := f.cancelTx(ids[at], commit)
			if err != nil {
				return err
			}
			cancelled[at].Store(yes && commit)
		}
		return nil
	})
	f.firedUnless(ids, func(i int) bool { return cancelled[i].Load() })
}

func (f *fixture) cancelTx(id timer.ID, commit bool) (bool, error) {
	tx, err := f.db.SQL.BeginTx(f.ctx(), nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	yes, err := f.CancelTx(f.ctx(), tx, id)
	if err != nil || !commit {
		return yes, err
	}
	return yes, tx.Commit()
}

// D-70: a timer that is moved about while it is due fires once.
func TestRescheduleAgainstFire(t *testing.T) { dbtest.Each(t, testRescheduleAgainstFire) }

func testRescheduleAgainstFire(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n, movers = 100, 3
	ids := f.scattered(n, 100*time.Millisecond)
	for range 2 {
		f.schedule(0)
	}
	f.together(movers, func(i int) error {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		for range n {
			due := f.now().Add(time.Duration(rng.IntN(100)-20) * time.Millisecond)
			if _, err := f.Reschedule(f.ctx(), ids[rng.IntN(n)], due); err != nil {
				return err
			}
		}
		return nil
	})
	f.firedUnless(ids, func(int) bool { return false })
}

// D-73: programs that fire timers themselves beside the built-in dispatch: of all
// who try to get a timer exactly one does.
func TestClaimAgainstDispatch(t *testing.T) { dbtest.Each(t, testClaimAgainstDispatch) }

func testClaimAgainstDispatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n, claimers = 400, 3
	ids := f.scattered(n, 200*time.Millisecond)
	f.schedule(0)
	acked := make([]map[timer.ID]bool, claimers)
	f.together(claimers, func(i int) error {
		acked[i] = map[timer.ID]bool{}
		return f.selfDispatch(on(t, f.db, f.db.Another(t), timer.Options{}), acked[i], n)
	})
	got := f.deliver()
	for i, id := range ids {
		times := got[id]
		for _, mine := range acked {
			if mine[id] {
				times++
			}
		}
		if times != 1 {
			t.Fatalf("timer %d was had by %d", i, times)
		}
		f.get(id, timer.Fired)
	}
}

// selfDispatch claims and acks through a handle until every timer is over. Some it
// puts back at first.
func (f *fixture) selfDispatch(handle *fixture, acked map[timer.ID]bool, n int) error {
	for {
		owner := outbox.NewOwnerToken()
		got, err := handle.WorkQueue().Claim(f.ctx(), owner, lease, 7)
		if err != nil {
			return err
		}
		for i, info := range got {
			if i%3 == 0 && info.RetryCount == 0 {
				if back, err := handle.WorkQueue().Abandon(f.ctx(), owner, outbox.RetryAfter(0, nil), info.ID); back != 1 || err != nil {
					return fmt.Errorf("put back %d: %w", back, err)
				}
				continue
			}
			if done, err := handle.WorkQueue().Ack(f.ctx(), owner, info.ID); done != 1 || err != nil {
				return fmt.Errorf("acked %d: %w", done, err)
			}
			acked[info.ID] = true
		}
		fired, err := engine.Collect(handle.List(f.ctx(), timer.ListOptions{Status: timer.Fired}), 10_000)
		if err != nil || len(fired) == n {
			return err
		}
	}
}

// D-71: schedulers that all see the same timers send each once.
func TestSeveralSchedulers(t *testing.T) { dbtest.Each(t, testSeveralSchedulers) }

func testSeveralSchedulers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for range 4 {
		f.schedule(0)
	}
	var ids []timer.ID
	for range 30 {
		ids = append(ids, f.putN(20)...)
	}
	f.firedUnless(ids, func(int) bool { return false })
}

// D-71, D-72: a hundred thousand timers that are due at one instant and several
// schedulers: each message exactly once.
func TestFlood(t *testing.T) { dbtest.Each(t, testFlood) }

func testFlood(t *testing.T, e dbtest.Engine) {
	const n = 100_000
	f := open(t, e)
	due, batch := f.past(), make([]timer.Timer, 2000)
	for i := range batch {
		batch[i] = timer.Timer{Topic: "t", Due: due, Payload: []byte("x")}
	}
	ids := map[timer.ID]bool{}
	for range n / len(batch) {
		some, err := f.ScheduleBatch(f.ctx(), batch)
		f.check(err)
		for _, id := range some {
			ids[id] = true
		}
	}
	handles := []*fixture{f, on(t, f.db, f.db.Another(t), timer.Options{}), on(t, f.db, f.db.Another(t), timer.Options{})}
	var fired atomic.Int64
	f.together(len(handles), func(i int) error {
		for {
			got, err := handles[i].Sources[0].Dispatch(f.ctx())
			if err != nil || got == 0 {
				return err
			}
			fired.Add(got)
		}
	})
	f.fires(int64(n) - fired.Load()) // what another one held when somebody saw nothing more
	got := f.deliver()
	if len(ids) != n || len(got) != n {
		t.Fatalf("%d timers and %d messages, want %d", len(ids), len(got), n)
	}
	for id, times := range got {
		if times != 1 || !ids[id] {
			t.Fatalf("message %v came %d times, scheduled: %v", id, times, ids[id])
		}
	}
}
