package timer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

var errCut = errors.New("cut by the test")

// faulty is a database that breaks once, at an operation: before it took effect,
// or after it did and before anybody heard.
type faulty struct {
	engine.DB
	op    string
	after bool
	broke atomic.Bool
}

func (d *faulty) run(calls []*engine.Call, forward func() error) error {
	asked := slices.ContainsFunc(calls, func(c *engine.Call) bool { return c.Name() == d.op })
	if !asked || !d.broke.CompareAndSwap(false, true) {
		return forward()
	}
	if !d.after {
		return &engine.Error{Op: d.op, Class: engine.ErrConnLost, Err: errCut}
	}
	if err := forward(); err != nil {
		return err
	}
	return &engine.Error{Op: d.op, Class: engine.ErrCommitUnknown, Err: errCut}
}

func (d *faulty) Do(ctx context.Context, calls ...*engine.Call) error {
	return d.run(calls, func() error { return d.DB.Do(ctx, calls...) })
}

func (d *faulty) Read(ctx context.Context, c *engine.Call) error {
	return d.run([]*engine.Call{c}, func() error { return d.DB.Read(ctx, c) })
}

// D-4, D-6, D-71: a connection that breaks before or after any call of a running
// scheduler: it goes on by itself, and each timer has one message.
func TestCrashAtCalls(t *testing.T) { dbtest.Each(t, testCrashAtCalls) }

func testCrashAtCalls(t *testing.T, e dbtest.Engine) {
	for _, op := range []string{"timer/dispatch", "timer/next_due"} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, after it: %v", op, after), func(t *testing.T) {
				t.Parallel()
				f := open(t, e)
				ids := f.putN(50)
				d := &faulty{DB: f.db.DB, op: op, after: after}
				broken := on(t, f.db, d, timer.Options{}).sleepy()
				broken.run()
				f.over()
				ids = append(ids, f.putN(50)...)
				f.firedUnless(ids, func(int) bool { return false })
				dbtest.Until(t, "the call was reached", d.broke.Load)
			})
		}
	}
}

// moments are the statements that change one of dispatch's tables.
type moment struct{ table, event string }

// break_ makes statements fail in the database, as if it had been lost there, and
// returns how to repair it.
func (f *fixture) breaks(m moment, when string) (repair func()) {
	f.t.Helper()
	exec := func(statements ...string) {
		f.t.Helper()
		for _, s := range statements {
			_, err := f.db.SQL.ExecContext(f.ctx(), strings.ReplaceAll(s, "pawl.", f.db.Table("")))
			f.check(err)
		}
	}
	if f.db.Engine() == "sqlite" {
		exec(fmt.Sprintf("CREATE TRIGGER cut %s %s ON pawl.%s BEGIN SELECT RAISE(ABORT, 'cut by the test'); END", when, m.event, m.table))
		return func() { exec("DROP TRIGGER cut") }
	}
	if f.db.Engine() == "sqlserver" { // which has no triggers before a statement
		exec(fmt.Sprintf("CREATE TRIGGER pawl.cut ON pawl.%s AFTER %s AS THROW 51000, 'cut by the test', 1", m.table, m.event))
		return func() { exec("DROP TRIGGER pawl.cut") }
	}
	exec("CREATE OR REPLACE FUNCTION pawl.cut() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION 'cut by the test'; END $f$",
		fmt.Sprintf("CREATE TRIGGER cut %s %s ON pawl.%s FOR EACH ROW EXECUTE FUNCTION pawl.cut()", when, m.event, m.table))
	return func() { exec("DROP TRIGGER cut ON pawl." + m.table) }
}

// eachCut runs what, which is to fail, with a database that breaks before and
// after each of the statements, and sees that nothing has happened.
func (f *fixture) eachCut(moments []moment, what func() error) {
	f.t.Helper()
	before := fmt.Sprint(f.shown())
	for _, m := range moments {
		for _, when := range []string{"BEFORE", "AFTER"} {
			repair := f.breaks(m, when)
			if err := what(); err == nil || !strings.Contains(err.Error(), errCut.Error()) {
				f.t.Fatalf("%s %s of %s: the error is %v", when, m.event, m.table, err)
			}
			repair()
			if after := fmt.Sprint(f.shown()); after != before || f.rows("outbox_message") != 0 || f.rows("outbox_ready") != 0 {
				f.t.Fatalf("%s %s of %s: %d messages, timers before: %s, after: %s", when, m.event, m.table, f.rows("outbox_message"), before, after)
			}
		}
	}
}

// D-71: a database that is lost before or after any statement of dispatch has
// every timer in one place: here. Then each has one message.
func TestCrashAtStatements(t *testing.T) { dbtest.Each(t, testCrashAtStatements) }

func testCrashAtStatements(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := append(f.putN(20), f.put(timer.Timer{Topic: "t", ID: timer.ID(uuid.New()), Key: "k", Due: f.past()}))
	f.eachCut([]moment{{"outbox_message", "INSERT"}, {"timer", "UPDATE"}, {"outbox_ready", "INSERT"}}, func() error {
		_, err := f.Sources[0].Dispatch(f.ctx())
		return err
	})
	f.fires(21)
	f.firedUnless(ids, func(int) bool { return false })
}

// D-73: a claim, an ack or an abandon that breaks leaves the timers as they were.
func TestCrashAtClaim(t *testing.T) { dbtest.Each(t, testCrashAtClaim) }

func testCrashAtClaim(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.putN(5)
	update := []moment{{"timer", "UPDATE"}}
	f.eachCut(update, func() error {
		_, err := f.WorkQueue().Claim(f.ctx(), outbox.NewOwnerToken(), lease, 10)
		return err
	})
	owner, _ := f.claim(5)
	for _, settle := range f.settlings() {
		f.eachCut(update, func() error {
			_, err := settle(owner, ids...)
			return err
		})
	}
	f.touched(5)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
}

// D-70, D-71: a replacement that breaks leaves the old timer to fire.
func TestCrashAtReplacement(t *testing.T) { dbtest.Each(t, testCrashAtReplacement) }

func testCrashAtReplacement(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	old := f.put(f.keyed("k"))
	f.eachCut([]moment{{"timer", "UPDATE"}, {"timer", "INSERT"}}, func() error {
		_, err := f.ScheduleBatch(f.ctx(), []timer.Timer{f.due(), f.keyed("k"), f.due()})
		return err
	})
	f.byKey("k", old)
	f.fires(1)
	f.message(old)
}

// D-4, D-10: the id of a schedule whose outcome is unknown is valid: scheduling
// again with it adds nothing twice, whether or not it was stored.
func TestScheduleUnknown(t *testing.T) { dbtest.Each(t, testScheduleUnknown) }

func testScheduleUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := on(t, f.db, f.db.Another(t), timer.Options{})
	broken := on(t, f.db, &faulty{DB: f.db.DB, op: "timer/schedule", after: true}, timer.Options{})
	tm := f.keyed("k")
	id, err := broken.Schedule(f.ctx(), tm)
	if !errors.Is(err, engine.ErrCommitUnknown) || id.IsZero() {
		t.Fatalf("id %v, error %v", id, err)
	}
	tm.ID = id
	for _, again := range []*fixture{broken, f, other} {
		again.put(tm)
	}
	f.stored(1)
	broken = on(t, f.db, &faulty{DB: f.db.DB, op: "timer/schedule"}, timer.Options{})
	if id, err := broken.Schedule(f.ctx(), f.due()); err == nil || errors.Is(err, engine.ErrCommitUnknown) || !id.IsZero() {
		t.Fatalf("id %v, error %v", id, err)
	}
	f.stored(1)
	f.fires(1)
	f.message(id)
}
