package timer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// inState returns a timer in a state that it got into by its proper way.
func (f *fixture) inState(s timer.Status, tm timer.Timer) timer.ID {
	f.t.Helper()
	id := f.put(tm)
	switch s {
	case timer.Claimed:
		f.claim(1)
	case timer.Fired:
		f.fires(1)
	case timer.Cancelled:
		f.changed(true)(f.Cancel(f.ctx(), id))
	}
	f.get(id, s)
	return id
}

func states() []timer.Status {
	return []timer.Status{timer.Fired, timer.Claimed, timer.Cancelled, timer.Scheduled}
}

// D-70: true means that it will never fire, or will at the new time. False means
// that it has fired, is being fired, was cancelled, or never was, and changes
// nothing.
func TestChangeInEveryState(t *testing.T) { dbtest.Each(t, testChangeInEveryState) }

func testChangeInEveryState(t *testing.T, e dbtest.Engine) {
	for name, change := range map[string]func(*fixture, timer.ID) (bool, error){
		"cancel":     func(f *fixture, id timer.ID) (bool, error) { return f.Cancel(f.ctx(), id) },
		"cancel key": func(f *fixture, _ timer.ID) (bool, error) { return f.CancelKey(f.ctx(), "k") },
		"reschedule": func(f *fixture, id timer.ID) (bool, error) { return f.Reschedule(f.ctx(), id, f.future()) },
	} {
		f := open(t, e)
		f.changed(false)(change(f, timer.ID{}))
		f.changed(false)(change(f, timer.ID(uuid.New())))
		for _, state := range states() {
			id := f.inState(state, f.keyed("k"))
			before := fmt.Sprintf("%+v", f.get(id, state))
			f.changed(state == timer.Scheduled)(change(f, id))
			switch {
			case state == timer.Scheduled && name == "reschedule":
				if got := f.get(id, timer.Scheduled); got.Due.Before(f.now()) || !got.NextAttemptAt.Equal(got.Due) {
					t.Fatalf("rescheduled to %+v", got)
				}
			case state == timer.Scheduled:
				f.get(id, timer.Cancelled)
				f.changed(false)(change(f, id))
			default:
				if after := fmt.Sprintf("%+v", f.get(id, state)); after != before {
					t.Fatalf("%s of one %v changed %s to %s", name, state, before, after)
				}
			}
		}
		f.fires(0)
	}
}

// D-10, D-70: the same with ids of the caller's.
func TestChangeSupplied(t *testing.T) { dbtest.Each(t, testChangeSupplied) }

func testChangeSupplied(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tm := f.due()
	tm.ID = timer.ID(uuid.New())
	f.put(tm)
	f.changed(true)(f.Reschedule(f.ctx(), tm.ID, f.future()))
	f.fires(0)
	f.changed(true)(f.Reschedule(f.ctx(), tm.ID, f.past()))
	f.changed(true)(f.Cancel(f.ctx(), tm.ID))
	f.changed(false)(f.Cancel(f.ctx(), tm.ID))
	f.changed(false)(f.Reschedule(f.ctx(), tm.ID, f.past()))
	f.fires(0)
	f.noMessage(tm.ID)
}

// D-70
func TestCancelledNeverFires(t *testing.T) { dbtest.Each(t, testCancelledNeverFires) }

func testCancelledNeverFires(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.putN(20)
	for i, id := range ids {
		if i%2 == 0 {
			f.changed(true)(f.Cancel(f.ctx(), id))
		}
	}
	f.claim(1) // nor can it be claimed
	f.fires(9)
	for i, id := range ids {
		if i%2 == 0 {
			f.noMessage(id)
			f.get(id, timer.Cancelled)
		}
	}
}

// changesTx are the changes in a caller's transaction, of a timer with key "k".
func changesTx() map[string]func(*fixture, outbox.Tx, timer.ID) (bool, error) {
	return map[string]func(*fixture, outbox.Tx, timer.ID) (bool, error){
		"cancel":     func(f *fixture, tx outbox.Tx, id timer.ID) (bool, error) { return f.CancelTx(f.ctx(), tx, id) },
		"cancel key": func(f *fixture, tx outbox.Tx, _ timer.ID) (bool, error) { return f.CancelKeyTx(f.ctx(), tx, "k") },
		"reschedule": func(f *fixture, tx outbox.Tx, id timer.ID) (bool, error) {
			return f.RescheduleTx(f.ctx(), tx, id, f.future())
		},
	}
}

// D-3, D-70: a change that is rolled back leaves the timer firing.
func TestChangeRolledBack(t *testing.T) { dbtest.Each(t, testChangeRolledBack) }

func testChangeRolledBack(t *testing.T, e dbtest.Engine) {
	for _, change := range changesTx() {
		f := open(t, e)
		id := f.put(f.keyed("k"))
		f.inTx(false, func(tx outbox.Tx) { f.changed(true)(change(f, tx, id)) })
		f.byKey("k", id)
		f.fires(1)
		f.message(id)
		f.inTx(true, func(tx outbox.Tx) { f.changed(false)(change(f, tx, id)) })
	}
}

// D-3, D-70
func TestChangeCommitted(t *testing.T) { dbtest.Each(t, testChangeCommitted) }

func testChangeCommitted(t *testing.T, e dbtest.Engine) {
	for name, change := range changesTx() {
		f := open(t, e)
		id := f.put(f.keyed("k"))
		f.inTx(true, func(tx outbox.Tx) {
			f.changed(true)(change(f, tx, id))
			f.changed(name == "reschedule")(change(f, tx, id))
		})
		f.fires(0)
		f.noMessage(id)
	}
}

// D-3: what the caller writes and its timers' changes are one.
func TestChangeWithWrite(t *testing.T) { dbtest.Each(t, testChangeWithWrite) }

func testChangeWithWrite(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	_, err := f.db.SQL.ExecContext(f.ctx(), "CREATE TABLE "+f.db.Table("orders")+" (n INTEGER PRIMARY KEY)")
	f.check(err)
	for i, commit := range []bool{true, false} {
		old := f.put(f.due())
		var young timer.ID
		f.inTx(commit, func(tx outbox.Tx) {
			_, err := tx.ExecContext(f.ctx(), fmt.Sprintf("INSERT INTO %s VALUES (%d)", f.db.Table("orders"), i))
			f.check(err)
			f.changed(true)(f.CancelTx(f.ctx(), tx, old))
			young, err = f.ScheduleTx(f.ctx(), tx, f.due())
			f.check(err)
			f.changed(true)(f.RescheduleTx(f.ctx(), tx, young, f.past()))
		})
		f.fires(1)
		if n := f.rows("orders"); n != 1 {
			t.Fatalf("%d orders", n)
		}
		if commit {
			f.message(young)
			f.noMessage(old)
		} else {
			f.message(old)
			f.unknown(young)
		}
	}
}

// D-70, D-71: a timer can be brought forward.
func TestRescheduleEarlier(t *testing.T) { dbtest.Each(t, testRescheduleEarlier) }

func testRescheduleEarlier(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(timer.Timer{Topic: "t", Due: f.future()})
	f.fires(0)
	due := f.past().Truncate(time.Microsecond)
	f.changed(true)(f.Reschedule(f.ctx(), id, due))
	f.fires(1)
	if m := f.message(id); !m.Due.Equal(due) {
		t.Fatalf("the message was due at %v, want %v", m.Due, due)
	}
}

// D-70, D-71: and put off, once more than once.
func TestRescheduleLater(t *testing.T) { dbtest.Each(t, testRescheduleLater) }

func testRescheduleLater(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(f.due())
	for range 3 {
		f.changed(true)(f.Reschedule(f.ctx(), id, f.future()))
		f.fires(0)
	}
	f.changed(true)(f.Reschedule(f.ctx(), id, f.now().Add(-time.Microsecond)))
	f.fires(1)
	f.message(id)
}

// D-70, D-73: rescheduling also moves what waits for its next attempt.
func TestRescheduleAfterFailure(t *testing.T) { dbtest.Each(t, testRescheduleAfterFailure) }

func testRescheduleAfterFailure(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(f.due())
	owner, _ := f.claim(1)
	f.touched(1)(f.WorkQueue().Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, nil), id))
	f.fires(0)
	f.changed(true)(f.Reschedule(f.ctx(), id, f.past()))
	if got := f.get(id, timer.Scheduled); got.RetryCount != 1 {
		t.Fatalf("%d attempts are left of one", got.RetryCount)
	}
	f.fires(1)
}

// D-3
func TestSeveralInTx(t *testing.T) { dbtest.Each(t, testSeveralInTx) }

func testSeveralInTx(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.putN(10)
	f.inTx(true, func(tx outbox.Tx) {
		for i, id := range ids {
			if i < 5 {
				f.changed(true)(f.CancelTx(f.ctx(), tx, id))
			} else {
				f.changed(true)(f.RescheduleTx(f.ctx(), tx, id, f.future()))
			}
		}
	})
	f.pending(5, 10)
	f.fires(0)
}

// D-70: of many who cancel one timer at once, one did it.
func TestCancelledAtOnce(t *testing.T) { dbtest.Each(t, testCancelledAtOnce) }

func testCancelledAtOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := on(t, f.db, f.db.Another(t), timer.Options{})
	for range 5 {
		id := f.put(f.due())
		answers := make([]bool, 8)
		f.together(len(answers), func(i int) (err error) {
			answers[i], err = []*fixture{f, other}[i%2].Cancel(f.ctx(), id)
			return err
		})
		won := 0
		for _, yes := range answers {
			if yes {
				won++
			}
		}
		if won != 1 {
			t.Fatalf("%d callers cancelled one timer", won)
		}
	}
	f.fires(0)
}
