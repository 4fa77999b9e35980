package join_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// redriven redrives a join and insists on what became of it.
func (f *fixture) redriven(id join.ID, want join.Redriven) {
	f.t.Helper()
	got, err := f.Redrive(f.ctx(), id)
	f.check(err)
	if got != want {
		f.t.Fatalf("redriven: %+v, want %+v", got, want)
	}
}

// notRedriven insists on an error, and that nothing was changed.
func (f *fixture) notRedriven(id join.ID, want error) {
	f.t.Helper()
	before, _ := f.Get(f.ctx(), id)
	if got, err := f.Redrive(f.ctx(), id); !errors.Is(err, want) || got != (join.Redriven{}) {
		f.t.Fatalf("redriven: %+v, %v, want %v", got, err, want)
	}
	if after, _ := f.Get(f.ctx(), id); before != nil && *before != *after {
		f.t.Fatalf("was %+v, is %+v", before, after)
	}
}

// reschedule puts the messages off, or makes them due.
func (f *fixture) reschedule(due time.Time, msgs ...outbox.MessageID) {
	f.t.Helper()
	for _, m := range msgs {
		_, err := f.box.Reschedule(f.ctx(), due, f.find(m).Position)
		f.check(err)
	}
}

func failing() map[string]outbox.Handler {
	return map[string]outbox.Handler{"step": succeed, "bad": failForGood}
}

// D-408: each end of a join sends its message, with an id of its own, and what succeeded
// does not run again.
func TestRedriveJoin(t *testing.T) { dbtest.Each(t, testRedriveJoin) }

func testRedriveJoin(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{ID: uuid.New()}, append(steps("step", 3), steps("bad", 2)...), usual())
	f.check(err)
	f.wait(fan.Join, join.Wait{OnFail: outbox.Message{Topic: "alert"}})
	for ends := 1; ends <= 3; ends++ {
		f.drain(failing())
		f.progress(fan.Join, 3, 2, join.Failed)
		f.sent("failed", ends)
		f.sent("alert", ends)
		f.redriven(fan.Join, join.Redriven{Steps: 2, Waits: 2})
		f.progress(fan.Join, 3, 0, join.Pending)
	}
	_, err = f.FanOut(f.ctx(), join.Spec{ID: fan.Join}, append(steps("step", 3), steps("bad", 2)...), usual()) // said again it adds nothing
	f.check(err)
	runs := 0
	f.drain(map[string]outbox.Handler{
		"step": func(context.Context, *outbox.Message) error { t.Error("ran again"); return nil },
		"bad":  func(context.Context, *outbox.Message) error { runs++; return nil },
	})
	f.progress(fan.Join, 5, 0, join.Completed)
	f.sent("failed", 3)
	f.sent("alert", 3)
	f.sent("done", 1)
	if runs != 2 {
		t.Errorf("%d steps ran", runs)
	}
	f.notRedriven(fan.Join, join.ErrNotFailed)
	entries, err := engine.Collect(audit.List(f.ctx(), f.db.DB, audit.Options{}), 100)
	f.check(err)
	noted := map[string]int{}
	for _, e := range entries {
		noted[fmt.Sprint(e.Action, " ", e.Count, " ", e.Target)]++
	}
	if name := "join " + fan.Join.String(); !maps.Equal(noted, map[string]int{"redrive 1 " + name: 3, "redrive 2 steps of " + name: 3}) {
		t.Errorf("the audit trail has %+v", entries)
	}
}

// D-408: joins that have not failed are not redriven.
func TestRedriveNotFailed(t *testing.T) { dbtest.Each(t, testRedriveNotFailed) }

func testRedriveNotFailed(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	pending, _ := f.members(1)
	f.notRedriven(pending, join.ErrNotFailed)
	_, err := f.Cancel(f.ctx(), pending)
	f.check(err)
	f.notRedriven(pending, join.ErrNotFailed)
	f.notRedriven(uuid.New(), join.ErrNotFound)
}

// D-408: of many calls at once one redrives.
func TestRedriveAtOnce(t *testing.T) { eachAndRepeatableRead(t, testRedriveAtOnce) }

func testRedriveAtOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{}, steps("bad", 20), usual())
	f.check(err)
	f.drain(failing())
	var mu sync.Mutex
	redriven := 0
	f.together(4, func(int) error {
		got, err := f.Redrive(f.ctx(), fan.Join)
		if errors.Is(err, join.ErrNotFailed) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		redriven += got.Steps
		return err
	})
	if redriven != 20 {
		t.Errorf("redrove %d steps", redriven)
	}
	f.drain(map[string]outbox.Handler{"bad": succeed})
	f.progress(fan.Join, 20, 0, join.Completed)
	f.sent("done", 1)
	f.sent("failed", 1)
}

// D-408: steps that were made ready by themselves count as what they are since.
func TestRedriveAfterRetry(t *testing.T) { dbtest.Each(t, testRedriveAfterRetry) }

func testRedriveAfterRetry(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{}, append(steps("step", 1), steps("bad", 3)...), usual())
	f.check(err)
	f.drain(failing())
	first, second := f.find(fan.Messages[1]).Position, f.find(fan.Messages[2]).Position
	b, err := f.box.Redrive(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{first}})
	f.check(err)
	if b.EndedSteps != 1 {
		t.Errorf("%d steps of joins that have ended", b.EndedSteps)
	}
	f.drain(map[string]outbox.Handler{"bad": succeed})
	_, err = f.box.Redrive(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{second}}) // and not yet run
	f.check(err)
	f.progress(fan.Join, 1, 3, join.Failed)
	f.redriven(fan.Join, join.Redriven{Steps: 1, Waits: 1})
	f.progress(fan.Join, 2, 0, join.Pending)
	f.drain(map[string]outbox.Handler{"bad": succeed})
	f.progress(fan.Join, 4, 0, join.Completed)
	f.sent("done", 1)
	all, err := f.FanOut(f.ctx(), join.Spec{}, steps("bad", 2), usual())
	f.check(err)
	f.drain(failing())
	b, err = f.box.Operator(access.Key{}).CountFailed(f.ctx(), outbox.FailedFilter{})
	f.check(err)
	if b.EndedSteps != 2 {
		t.Errorf("would be %d steps of joins that have ended", b.EndedSteps)
	}
	b, err = f.box.Redrive(f.ctx(), outbox.FailedFilter{})
	f.check(err)
	if b.EndedSteps != 2 {
		t.Errorf("%d steps of joins that have ended", b.EndedSteps)
	}
	f.drain(map[string]outbox.Handler{"bad": succeed})
	f.progress(all.Join, 0, 2, join.Failed)
	f.redriven(all.Join, join.Redriven{Waits: 1})
	f.drain(nil)
	f.progress(all.Join, 2, 0, join.Completed)
	f.sent("done", 2)
}

// D-408: what cannot run again is said, and a join that would fail at once is left alone.
func TestRedriveLostSteps(t *testing.T) { dbtest.Each(t, testRedriveLostSteps) }

func testRedriveLostSteps(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{}, append(steps("step", 1), steps("bad", 2)...), usual())
	f.check(err)
	f.drain(failing())
	discard := func(m outbox.MessageID) {
		t.Helper()
		b, err := f.box.Discard(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{f.find(m).Position}})
		if f.check(err); b.Changed != 1 {
			t.Fatalf("discarded %d", b.Changed)
		}
	}
	discard(fan.Messages[1])
	f.redriven(fan.Join, join.Redriven{Steps: 1, StepsLost: 1, Waits: 1})
	f.progress(fan.Join, 1, 1, join.Pending)
	f.drain(failing())
	f.progress(fan.Join, 1, 2, join.Failed)
	f.sent("failed", 2)
	discard(fan.Messages[2])
	f.notRedriven(fan.Join, join.ErrStepsLost)
	f.age()
	f.cleaned(5, 0) // the steps, and follow-ups and waits that are done: 1 + 2 steps, 2 waits
	f.notRedriven(fan.Join, join.ErrStepsLost)
	reported, msgs := f.members(1)
	_, err = f.ReportFailed(f.ctx(), reported, msgs[0])
	f.check(err)
	f.drain(failing())
	f.notRedriven(reported, join.ErrStepsLost)
}

// D-408, D-36: a join that failed by its deadline has none any more, and counts what ended since.
func TestRedriveAfterDeadline(t *testing.T) { dbtest.Each(t, testRedriveAfterDeadline) }

func testRedriveAfterDeadline(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{Deadline: time.Now().Add(-time.Minute)}, append(steps("late", 1), append(steps("late bad", 1), steps("later", 1)...)...), usual())
	f.check(err)
	f.reschedule(time.Now().Add(time.Hour), fan.Messages...)
	f.drain(nil)
	f.progress(fan.Join, 0, 0, join.Failed)
	f.reschedule(time.Time{}, fan.Messages[:2]...)
	f.drain(map[string]outbox.Handler{"late": succeed, "late bad": failForGood})
	f.progress(fan.Join, 0, 0, join.Failed)
	f.redriven(fan.Join, join.Redriven{Steps: 1, Waits: 2})
	if j := f.progress(fan.Join, 1, 0, join.Pending); !j.Deadline.IsZero() {
		t.Errorf("the deadline is %v", j.Deadline)
	}
	f.drain(map[string]outbox.Handler{"late bad": succeed})
	f.progress(fan.Join, 2, 0, join.Pending)
	f.reschedule(time.Time{}, fan.Messages[2])
	f.drain(map[string]outbox.Handler{"later": succeed})
	f.progress(fan.Join, 3, 0, join.Completed)
	f.sent("failed", 1)
	f.sent("done", 1)
}

// D-408: a deadline that is to come holds for the next end, too.
func TestRedriveBeforeDeadline(t *testing.T) { dbtest.Each(t, testRedriveBeforeDeadline) }

func testRedriveBeforeDeadline(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{Deadline: time.Now().Add(time.Hour)}, steps("bad", 1), usual())
	f.check(err)
	f.drain(failing())
	f.redriven(fan.Join, join.Redriven{Steps: 1, Waits: 2})
	f.drain(nil) // its waits are parked
	_, err = f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_join")+" SET deadline_utc = "+f.db.Ago(time.Second))
	f.check(err)
	_, err = f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_ready")+" SET at = "+f.db.Ago(time.Second))
	f.check(err)
	f.drain(nil)
	f.progress(fan.Join, 0, 0, join.Failed)
	f.sent("failed", 2)
}

// D-408: steps that were deleted after a join had ended without them count as failed, as
// otherwise it would wait for ever.
func TestRedriveDeletedSteps(t *testing.T) { dbtest.Each(t, testRedriveDeletedSteps) }

func testRedriveDeletedSteps(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{Deadline: time.Now().Add(-time.Minute)}, append(steps("step", 2), steps("bad", 1)...), join.Wait{})
	f.check(err)
	f.reschedule(time.Now().Add(time.Hour), fan.Messages...)
	f.drain(nil)
	f.reschedule(time.Time{}, fan.Messages...)
	f.drain(failing())
	f.age()
	f.cleaned(3, 0)
	f.redriven(fan.Join, join.Redriven{Steps: 1, StepsLost: 2, WaitsLost: 1})
	f.progress(fan.Join, 0, 2, join.Pending)
	f.drain(map[string]outbox.Handler{"bad": succeed})
	f.progress(fan.Join, 1, 2, join.Failed)
}

// D-408, D-38: other joins of a step take its failure back if they are pending, and stay as they
// are if not; they can be redriven themselves then.
func TestRedriveSharedSteps(t *testing.T) { dbtest.Each(t, testRedriveSharedSteps) }

func testRedriveSharedSteps(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	a, msgs := f.members(2)
	b, c := f.start(3), f.start(1)
	f.check(f.Attach(f.ctx(), b, msgs...))
	f.check(f.Attach(f.ctx(), c, msgs[0]))
	f.drain(map[string]outbox.Handler{"step": failForGood})
	f.progress(a, 0, 2, join.Failed)
	f.progress(b, 0, 2, join.Pending)
	f.progress(c, 0, 1, join.Failed)
	f.redriven(a, join.Redriven{Steps: 2})
	f.progress(b, 0, 0, join.Pending)
	f.progress(c, 0, 1, join.Failed)
	f.drain(failing())
	f.progress(a, 2, 0, join.Completed)
	f.progress(b, 2, 0, join.Pending)
	f.progress(c, 0, 1, join.Failed)
	f.redriven(c, join.Redriven{})
	f.progress(c, 1, 0, join.Completed)
}

// D-408: a wait that has sent nothing yet sends for the next end alone; one that a worker handles
// at the moment is waited for, and one that somebody gave up stays so.
func TestRedriveWaits(t *testing.T) { dbtest.Each(t, testRedriveWaits) }

func testRedriveWaits(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	given := f.wait(id, join.Wait{OnComplete: outbox.Message{Topic: "given up"}})
	if n, err := f.box.Cancel(f.ctx(), "", f.find(given).Position); n != 1 || err != nil {
		t.Fatalf("cancelled %d: %v", n, err)
	}
	owner, items := f.claim(1)
	f.fail(owner, items[msgs[0]])
	wait := f.wait(id)
	owner, items = f.claim(1)
	f.notRedriven(id, engine.ErrBusy)
	if _, err := f.box.Release(f.ctx(), owner, items[wait]); err != nil {
		t.Fatal(err)
	}
	f.redriven(id, join.Redriven{Steps: 1, Waits: 1})
	f.drain(failing())
	f.progress(id, 1, 0, join.Completed)
	f.sent("failed", 0)
	f.sent("given up", 0)
	f.sent("done", 1)
}

// D-654: a wait that failed, and that a redrive of its join replaced, does not come back beside the new one
// when discards are taken back.
func TestRedriveThenUndiscard(t *testing.T) { dbtest.Each(t, testRedriveThenUndiscard) }

func testRedriveThenUndiscard(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	owner, items := f.claim(1)
	f.fail(owner, items[msgs[0]])
	wait := f.wait(id)
	owner, items = f.claim(1)
	f.fail(owner, items[wait])
	f.redriven(id, join.Redriven{Steps: 1, Waits: 1})
	b, err := f.box.Undiscard(f.ctx(), outbox.FailedFilter{}, uuid.Nil)
	f.check(err)
	if m := f.find(wait); b.Changed != 0 || m.Status != outbox.Discarded {
		t.Errorf("%d taken back, the wait is %s", b.Changed, m.Status)
	}
	f.drain(failing())
	f.sent("done", 1)
}

// D-408: a wait that other programs enqueued after the end waits again, too.
func TestRedriveWaitOfOthers(t *testing.T) { dbtest.Each(t, testRedriveWaitOfOthers) }

func testRedriveWaitOfOthers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	f.drain(map[string]outbox.Handler{"step": failForGood})
	_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: join.DefaultTopic, CorrelationID: "c", Payload: []byte(`{"JoinId":"` + id.String() + `","OnCompleteTopic":"done","OnFailTopic":"failed"}`)})
	f.check(err)
	f.drain(nil)
	f.sent("failed", 1)
	f.redriven(id, join.Redriven{Steps: 1, Waits: 1})
	f.drain(failing())
	f.sent("done", 1)
}
