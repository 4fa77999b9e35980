package timer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// What an open transaction that holds a timer keeps others from, and what it does
// not. SQLite has one writer at a time: it has nothing to ask here.

// onPostgres runs a test on PostgreSQL alone, beside the package's others.
func onPostgres(t *testing.T, test func(*testing.T, dbtest.Engine)) {
	t.Helper()
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, dbtest.Engine{Name: "postgres", Open: dbtest.OpenPostgres})
	})
}

// overlap runs second while an open transaction holds what it needs, and then
// ends that.
func (f *fixture) overlap(second, end func() error) {
	f.t.Helper()
	done := make(chan error, 1)
	go func() { done <- second() }()
	dbtest.Until(f.t, "the second waits for a lock", func() bool { return f.waiting() > 0 || len(done) > 0 })
	if len(done) > 0 {
		f.t.Error("the second did not wait")
	}
	f.check(end())
	f.check(<-done)
}

// waiting is how many sessions wait for locks in this database.
func (f *fixture) waiting() (n int) {
	f.t.Helper()
	schema := strings.TrimSuffix(f.db.Table(""), ".")
	f.db.Row(f.t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"+schema+"%'", &n)
	return n
}

// begin opens a transaction of the caller and returns how to end it.
func (f *fixture) begin(commit bool) (tx outbox.Tx, end func() error) {
	f.t.Helper()
	open := f.db.Begin(f.t)
	f.t.Cleanup(func() { _ = open.Rollback() })
	if commit {
		return open, open.Commit
	}
	return open, open.Rollback
}

// D-70: a cancel or reschedule in an open transaction: dispatch and claim skip
// the timer without waiting, and whether it fires is the outcome's to say.
func TestChangeThenDispatch(t *testing.T) { onPostgres(t, testChangeThenDispatch) }

func testChangeThenDispatch(t *testing.T, e dbtest.Engine) {
	for _, change := range changesTx() {
		for _, commit := range []bool{true, false} {
			f := open(t, e)
			id, other := f.put(f.keyed("k")), f.put(f.due())
			tx, end := f.begin(commit)
			f.changed(true)(change(f, tx, id))
			f.fires(1)
			f.message(other)
			f.claim(0)
			f.noMessage(id)
			f.check(end())
			if commit {
				f.fires(0)
				f.noMessage(id)
			} else {
				f.fires(1)
				f.message(id)
			}
		}
	}
}

// exec runs a statement of pawl's own in an open transaction.
func (f *fixture) exec(tx outbox.Tx, statement string, args ...any) {
	f.t.Helper()
	_, err := tx.ExecContext(f.ctx(), strings.ReplaceAll(statement, "pawl.", f.db.Table("")), args...)
	f.check(err)
}

// D-70: a change that meets a dispatch waits for it: too late if that commits.
func TestDispatchThenChange(t *testing.T) { onPostgres(t, testDispatchThenChange) }

func testDispatchThenChange(t *testing.T, e dbtest.Engine) {
	for name, change := range changesTx() {
		for _, commit := range []bool{true, false} {
			f := open(t, e)
			id := f.put(f.keyed("k"))
			tx, end := f.begin(commit)
			f.exec(tx, "SELECT pawl.timer_dispatch(10)")
			var changed bool
			f.overlap(func() (err error) {
				own := f.db.Begin(t)
				if changed, err = change(f, own, id); err != nil {
					return err
				}
				return own.Commit()
			}, end)
			if changed == commit {
				t.Fatalf("%s said %v, the dispatch was committed: %v", name, changed, commit)
			}
			f.fires(0)
			if commit {
				f.message(id)
			} else {
				f.noMessage(id)
			}
		}
	}
}

// D-70, D-73: the same with a claim.
func TestClaimThenChange(t *testing.T) { onPostgres(t, testClaimThenChange) }

func testClaimThenChange(t *testing.T, e dbtest.Engine) {
	for _, commit := range []bool{true, false} {
		f := open(t, e)
		id := f.put(f.keyed("k"))
		owner := outbox.NewOwnerToken()
		tx, end := f.begin(commit)
		f.exec(tx, "SELECT FROM pawl.timer_claim_rows($1, interval '1 minute', 10)", owner.String())
		var cancelled bool
		f.overlap(func() (err error) {
			cancelled, err = f.Cancel(f.ctx(), id)
			return err
		}, end)
		if cancelled == commit {
			t.Fatalf("cancelled: %v, the claim was committed: %v", cancelled, commit)
		}
		f.fires(0)
		n, err := f.WorkQueue().Ack(f.ctx(), owner, id)
		f.check(err)
		if (n == 1) != commit {
			t.Fatalf("acked %d", n)
		}
	}
}

// D-70, D-71: a replacement that meets a dispatch waits for it. What fired has
// fired, and the new timer is there in either case.
func TestDispatchThenReplace(t *testing.T) { onPostgres(t, testDispatchThenReplace) }

func testDispatchThenReplace(t *testing.T, e dbtest.Engine) {
	for _, commit := range []bool{true, false} {
		f := open(t, e)
		old := f.put(f.keyed("k"))
		tx, end := f.begin(commit)
		f.exec(tx, "SELECT pawl.timer_dispatch(10)")
		var young timer.ID
		f.overlap(func() (err error) {
			young, err = f.Schedule(f.ctx(), f.keyed("k"))
			return err
		}, end)
		f.byKey("k", young)
		f.fires(1)
		if commit {
			f.message(old)
		} else {
			f.noMessage(old)
			f.get(old, timer.Cancelled)
		}
		f.message(young)
	}
}

// D-70: and the other way round: who replaces first has the key, and the old
// timer does not fire meanwhile.
func TestReplaceThenDispatch(t *testing.T) { onPostgres(t, testReplaceThenDispatch) }

func testReplaceThenDispatch(t *testing.T, e dbtest.Engine) {
	for _, commit := range []bool{true, false} {
		f := open(t, e)
		old := f.put(f.keyed("k"))
		tx, end := f.begin(commit)
		young, err := f.ScheduleTx(f.ctx(), tx, f.keyed("k"))
		f.check(err)
		f.fires(0)
		var third timer.ID
		f.overlap(func() (err error) {
			third, err = f.Schedule(f.ctx(), f.keyed("k"))
			return err
		}, end)
		f.fires(1)
		f.message(third)
		f.noMessage(old)
		f.noMessage(young)
	}
}

// D-72: a timer that somebody's open transaction holds, for however long, does
// not make the next one late.
func TestHeldAndNext(t *testing.T) { onPostgres(t, testHeldAndNext) }

func testHeldAndNext(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	held := f.put(f.due())
	tx, end := f.begin(false)
	f.changed(true)(f.CancelTx(f.ctx(), tx, held))
	f.schedule(time.Hour)
	for i := range 5 {
		f.until(f.put(timer.Timer{Topic: "t", Due: f.now().Add(time.Duration(i) * 50 * time.Millisecond)}))
	}
	f.noMessage(held)
	f.check(end())
	f.until(held)
}

// D-71, D-73: dispatch, claim, reap and clean-up skip what an open transaction
// holds: none waits for it, and none does anything twice.
func TestHeldSkipped(t *testing.T) { onPostgres(t, testHeldSkipped) }

func testHeldSkipped(t *testing.T, e dbtest.Engine) {
	f := open(t, e, timer.Options{Retention: time.Millisecond})
	ids := f.putN(20)
	tx, end := f.begin(true)
	f.exec(tx, "SELECT pawl.timer_dispatch(10)")
	owner, got := f.claimFor(time.Hour, 5)
	f.same(got, ids[10:15]...)
	f.fires(5)
	_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf("UPDATE %s SET locked_until = %s WHERE status = 1", f.db.Table("timer"), f.db.Earlier(f.db.Clock(), time.Minute)))
	f.check(err)
	reaping, endReaping := f.begin(false)
	f.exec(reaping, "SELECT pawl.timer_reap()")
	f.touched(0)(f.WorkQueue().ReapExpired(f.ctx()))
	f.check(endReaping())
	cleaning, endCleaning := f.begin(false)
	f.exec(cleaning, fmt.Sprintf("SELECT FROM %s WHERE status = 2 FOR UPDATE", f.db.Table("timer")))
	f.touched(0)(f.CleanUp(f.ctx()))
	f.check(endCleaning())
	f.touched(5)(f.CleanUp(f.ctx()))
	f.touched(5)(f.WorkQueue().Ack(f.ctx(), owner, got...))
	f.check(end())
	f.fires(0)
	if n := f.rows("outbox_message"); n != 15 {
		t.Fatalf("%d messages", n)
	}
}
