package timer_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// until waits until a timer's message is there.
func (f *fixture) until(id timer.ID) {
	f.t.Helper()
	dbtest.Until(f.t, "the timer has fired", func() bool {
		_, err := f.box.Get(f.ctx(), id)
		if err != nil && !errors.Is(err, outbox.ErrNotFound) {
			f.t.Fatal(err)
		}
		return err == nil
	})
}

// sleepy is a scheduler that comes to look only after an hour, unless it is woken.
func (f *fixture) sleepy() *fixture {
	f.Poll = time.Hour
	return f
}

// run runs the fixture's own scheduler.
func (f *fixture) run() { f.runs(f.Timers) }

// wakes schedules timers through a handle, and moves them, while a scheduler
// sleeps towards a later one.
func (f *fixture) wakes(by *fixture) {
	f.t.Helper()
	f.put(timer.Timer{Topic: "t", Due: f.future()})
	for i := range 10 { // also when it just went to sleep, and when it slept for a while
		first := by.put(timer.Timer{Topic: "t", Due: f.past()})
		f.until(first)
		soon := by.put(timer.Timer{Topic: "t", Due: f.now().Add(time.Duration(i) * 10 * time.Millisecond)})
		f.until(soon)
		moved := by.put(timer.Timer{Topic: "t", Due: f.future()})
		f.changed(true)(by.Reschedule(f.ctx(), moved, f.now().Add(10*time.Millisecond)))
		f.until(moved)
	}
}

// D-72: a scheduler that sleeps until its next timer wakes when an earlier one is
// scheduled, or becomes earlier, in this process.
func TestWokenHere(t *testing.T) { dbtest.Each(t, testWokenHere) }

func testWokenHere(t *testing.T, e dbtest.Engine) {
	f := open(t, e).sleepy()
	f.run()
	f.wakes(f)
}

// D-72: and in another one.
func TestWokenAcross(t *testing.T) { dbtest.Each(t, testWokenAcross) }

func testWokenAcross(t *testing.T, e dbtest.Engine) {
	f := open(t, e).sleepy()
	if !f.db.Notifies() {
		t.Skip("other processes poll")
	}
	f.run()
	f.wakes(on(t, f.db, f.db.Another(t), timer.Options{}))
}

// D-72, D-73: and when somebody puts a claimed one back.
func TestWokenByAbandon(t *testing.T) { dbtest.Each(t, testWokenByAbandon) }

func testWokenByAbandon(t *testing.T, e dbtest.Engine) {
	f := open(t, e).sleepy()
	other := f
	if f.db.Notifies() { // elsewhere only this process wakes it
		other = on(t, f.db, f.db.Another(t), timer.Options{})
	}
	id := f.put(f.due())
	owner, _ := other.claimFor(time.Hour, 1)
	f.run()
	other.touched(1)(other.WorkQueue().Abandon(f.ctx(), owner, outbox.RetryAfter(short, nil), id))
	f.until(id)
}

// D-12, D-73: a lease that runs out is due at that moment: nobody has to poll.
func TestRunHeals(t *testing.T) { dbtest.Each(t, testRunHeals) }

func testRunHeals(t *testing.T, e dbtest.Engine) {
	f := open(t, e).sleepy()
	id := f.put(f.due())
	f.claimFor(time.Second, 1)
	f.run()
	if f.db.Engine() != "sqlite" { // real time passes by itself
		f.until(id)
		return
	}
	f.pass(time.Second)
	f.put(timer.Timer{Topic: "t", Due: f.past()}) // its clock was moved behind its back
	f.until(id)
}

// D-73: in a process that fires timers itself Run moves none.
func TestRunSelfDispatch(t *testing.T) { dbtest.Each(t, testRunSelfDispatch) }

func testRunSelfDispatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e, timer.Options{SelfDispatch: true})
	f.run()
	id := f.put(f.due())
	_, got := f.claim(1)
	f.same(got, id)
	f.noMessage(id)
}

// D-100
func TestSchemaMissing(t *testing.T) { dbtest.Each(t, testSchemaMissing) }

func testSchemaMissing(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf("DROP TABLE %s", f.db.Table("pawl_schema")))
	f.check(err)
	if err := f.Run(f.ctx()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Fatalf("want ErrSchemaMissing, got %v", err)
	}
}
