package admin_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// steps is the queue of the members: no worker of a test listens to it.
const steps = "steps"

// fan starts a join with n members and a wait that is parked.
func (f *examineFixture) fan(n int) join.ID {
	f.t.Helper()
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "step", Queue: steps}
	}
	fan, err := f.joins.FanOut(f.ctx(), join.Spec{}, msgs, join.Wait{OnComplete: outbox.Message{Topic: "next", Queue: "sent"}, OnFail: outbox.Message{Topic: "failed", Queue: "sent"}})
	f.check(err)
	f.work()
	return fan.Join
}

// work handles what is due, which is waits.
func (f *examineFixture) work() {
	f.t.Helper()
	f.check(f.box.Run(f.ctx()))
}

// end settles n members.
func (f *examineFixture) end(n int, failed bool) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.box.WorkQueue(steps).Claim(f.ctx(), owner, time.Minute, n)
	f.check(err)
	for _, m := range msgs {
		if failed {
			_, err = f.box.WorkQueue("").Fail(f.ctx(), owner, fmt.Errorf("no"), m.Position)
		} else {
			_, err = f.box.WorkQueue("").Ack(f.ctx(), owner, m.Position)
		}
		f.check(err)
	}
	if len(msgs) != n {
		f.t.Fatalf("claimed %d messages, want %d", len(msgs), n)
	}
}

// parkWaits puts the waits back to where they were before their join was over.
func (f *examineFixture) parkWaits() {
	f.exec("UPDATE {outbox_ready} SET at = {100000h} WHERE lo IN (SELECT id FROM {outbox_join_wait})")
}

func (f *examineFixture) wantJoin(id join.ID, completed, failed int, status join.Status) {
	f.t.Helper()
	j, err := f.joins.Get(f.ctx(), id)
	f.check(err)
	if j.CompletedSteps != completed || j.FailedSteps != failed || j.Status != status {
		f.t.Errorf("join: %d completed, %d failed, %s; want %d, %d, %s", j.CompletedSteps, j.FailedSteps, j.Status, completed, failed, status)
	}
}

// wantSent lets the waits be handled and wants so many messages of a topic.
func (f *examineFixture) wantSent(topic string, n int) {
	f.t.Helper()
	f.work()
	list, err := engine.Collect(f.box.List(f.ctx(), outbox.ListOptions{Topic: topic}), 100)
	f.check(err)
	if len(list) != n {
		f.t.Errorf("%d messages of topic %s, want %d", len(list), topic, n)
	}
}

// repair wants Examine to find a fault of joins, to repair it, and to find no more.
func (f *examineFixture) repair(evidence string) {
	f.t.Helper()
	if found := wantFinding(f.t, f.examine(), "joins", health.Problem, evidence, "pawl doctor --fix"); !found.Fixable {
		f.t.Errorf("not fixable: %+v", found)
	}
	f.withoutTrail()
	wantFinding(f.t, f.examine(), "joins", health.Problem, evidence, "")
	before := f.noted("counters of joins")
	wantFinding(f.t, f.examine(engine.ExamineOptions{Fix: true, Timeout: time.Minute}), "joins", health.Note, "repaired 1 joins", "")
	wantOK(f.t, f.examine(), "joins")
	if n := f.noted("counters of joins") - before; n != 1 {
		f.t.Errorf("%d repaired joins are noted", n)
	}
}

// withoutTrail has the doctor repair where nothing can be recorded: nothing is repaired
// then (D-116).
func (f *examineFixture) withoutTrail() {
	f.t.Helper()
	f.db.Rename(f.t, "audit_trail", "elsewhere")
	f.admin().ExamineWith(f.ctx(), access.Key{}, engine.ExamineOptions{Fix: true, Timeout: time.Minute})
	f.db.Rename(f.t, "elsewhere", "audit_trail")
}

// noted is how much the doctor mended of something, by the audit trail.
func (f *examineFixture) noted(target string) (n int64) {
	f.t.Helper()
	list, err := engine.Collect(audit.List(f.ctx(), f.db, audit.Options{Action: audit.Fix}), 100)
	f.check(err)
	for _, e := range list {
		if e.Target == target {
			n += e.Count
		}
	}
	return n
}

func TestExamineJoinsCountersByHand(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(3)
		f.end(1, false)
		f.end(1, true)
		wantOK(t, f.examine(), "joins")
		f.exec("UPDATE {outbox_join} SET completed_steps = 0, failed_steps = 0")
		f.repair("1 of 1 joins disagree with their members: " + id.String())
		f.wantJoin(id, 1, 1, join.Pending)
		f.wantSent("failed", 0)
		f.exec("UPDATE {outbox_join} SET completed_steps = 2, failed_steps = 0")
		f.repair("counts 2 completed and 0 failed of 3, its members 1 and 1")
		f.wantJoin(id, 1, 1, join.Pending)
		f.end(1, false)
		f.wantJoin(id, 2, 1, join.Failed)
		f.wantSent("failed", 1)
	})
}

// A join that is completed by mending ends as it would have: its wait fires, once.
func TestExamineJoinsLastStep(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(2)
		f.end(2, false)
		f.parkWaits()
		f.exec("UPDATE {outbox_join} SET completed_steps = 1, status = 0")
		f.wantSent("next", 0)
		f.repair("counts 1 completed and 0 failed of 2, its members 2 and 0")
		f.wantJoin(id, 2, 0, join.Completed)
		f.wantSent("next", 1)
		f.wantSent("failed", 0)
	})
}

func TestExamineJoinsLastFailure(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(2)
		f.end(1, false)
		f.end(1, true)
		f.parkWaits()
		f.exec("UPDATE {outbox_join} SET status = 0") // counts right, and is not over
		f.repair("(pending) counts 1 completed and 1 failed of 2, its members 1 and 1")
		f.wantJoin(id, 1, 1, join.Failed)
		f.wantSent("failed", 1)
		f.wantSent("next", 0)
	})
}

func TestExamineJoinsMissedSteps(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(3)
		f.end(2, false)
		f.end(1, true)
		f.parkWaits()
		f.exec("UPDATE {outbox_join} SET completed_steps = 0, failed_steps = 0, status = 0")
		f.exec("UPDATE {outbox_join_member} SET status = 0")
		f.repair("its members 0 and 0, and 3 more are over")
		f.wantJoin(id, 2, 1, join.Failed)
		f.wantSent("failed", 1)
		members, err := engine.Collect(f.joins.Members(f.ctx(), id, join.MembersOptions{}), 100)
		f.check(err)
		for _, m := range members {
			if m.Status == join.Pending {
				t.Errorf("still pending: %+v", m)
			}
		}
	})
}

// An end is final: mending counters changes neither the status nor when it ended,
// and sends nothing.
func TestExamineJoinsStayOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(2)
		f.end(2, false)
		f.wantSent("next", 1)
		before, err := f.joins.Get(f.ctx(), id)
		f.check(err)
		f.exec("UPDATE {outbox_join} SET completed_steps = 0, failed_steps = 1")
		f.repair("(completed) counts 0 completed and 1 failed of 2")
		f.wantJoin(id, 2, 0, join.Completed)
		after, err := f.joins.Get(f.ctx(), id)
		f.check(err)
		if !after.UpdatedAt.Equal(before.UpdatedAt) {
			t.Errorf("ended %v, now %v", before.UpdatedAt, after.UpdatedAt)
		}
		f.wantSent("next", 1)

		other := f.fan(2)
		_, err = f.joins.Cancel(f.ctx(), other)
		f.check(err)
		f.exec("UPDATE {outbox_join} SET failed_steps = 2 WHERE status = 3")
		f.repair("(cancelled) counts 0 completed and 2 failed of 2")
		f.wantJoin(other, 0, 0, join.Cancelled)

		msgs := []outbox.Message{{Topic: "step", Queue: steps}}
		forgiven, err := f.joins.FanOut(f.ctx(), join.Spec{}, msgs, join.Wait{AllowFailures: true, OnComplete: outbox.Message{Topic: "after all", Queue: "sent"}})
		f.check(err)
		f.exec("DELETE FROM {outbox_ready} WHERE lo IN (SELECT id FROM {outbox_join_member} WHERE join_id IN (SELECT join_id FROM {outbox_join} WHERE status = 3))")
		f.end(1, true)
		f.wantSent("after all", 1)
		f.wantJoin(forgiven.Join, 0, 1, join.Completed)
		f.exec("UPDATE {outbox_join} SET failed_steps = 0 WHERE failed_steps = 1")
		f.repair("(completed) counts 0 completed and 0 failed of 1, its members 0 and 1")
		f.wantJoin(forgiven.Join, 0, 1, join.Completed)
	})
}

// Members that cannot be right are said, and left alone.
func TestExamineJoinsTooManyMembers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(2)
		f.end(1, false)
		f.exec("UPDATE {outbox_join} SET expected_steps = 1, completed_steps = 0")
		f.exec("UPDATE {outbox_join_member} SET status = 1")
		for _, fix := range []bool{false, true} {
			found := wantFinding(t, f.examine(engine.ExamineOptions{Fix: fix, Timeout: time.Minute}), "joins", health.Problem, "its members 2 and 0", "by hand")
			if found.Fixable {
				t.Errorf("fixable: %+v", found)
			}
		}
		f.wantJoin(id, 0, 0, join.Pending)
	})
}

// More joins than a page has are read; with Fix all of them.
func TestExamineJoinsPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		const n = 250
		tx := f.begin()
		for range n {
			_, err := f.joins.StartTx(f.ctx(), tx, join.Spec{ExpectedSteps: 2})
			f.check(err)
		}
		f.check(tx.Commit())
		wantFinding(t, f.examine(), "joins", health.OK, "250 joins agree", "")
		f.exec("UPDATE {outbox_join} SET completed_steps = 1")
		wantFinding(t, f.examine(), "joins", health.Problem, "250 of 250 joins disagree", "pawl doctor --fix")
		wantFinding(t, f.examine(engine.ExamineOptions{Fix: true, Timeout: time.Minute}), "joins", health.Note, "repaired 250 joins", "")
		wantOK(t, f.examine(), "joins")
		if n := f.noted("counters of joins"); n != 250 {
			t.Errorf("%d repaired joins are noted", n)
		}
	})
}

// D-33, D-113: a join is over and its wait is parked until nobody wakes it: it is
// found, and woken; the wait of a join that is pending stays where it is.
func TestExamineJoinsParkedWaits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(1)
		f.end(1, false)
		f.exec("UPDATE {outbox_ready} SET at = " + f.never() + " WHERE lo IN (SELECT id FROM {outbox_join_wait})")
		pending := f.fan(1)
		f.wantSent("next", 0)
		wantFinding(t, f.examine(), "joins", health.Problem, "1 joins are over, and their waits are parked: "+id.String(), "pawl doctor --fix")
		f.withoutTrail()
		f.wantSent("next", 0)
		wantFinding(t, f.examine(engine.ExamineOptions{Fix: true, Timeout: time.Minute}), "joins", health.Note, "woke the waits of 1 joins", "")
		wantOK(t, f.examine(), "joins")
		f.wantSent("next", 1)
		if n := f.noted("counters of joins"); n != 1 {
			t.Errorf("%d woken waits are noted", n)
		}
		f.wantJoin(pending, 0, 0, join.Pending)
		f.end(1, false)
		f.wantSent("next", 2)
	})
}

// never is where a wait without a deadline is parked.
func (f *examineFixture) never() string {
	return map[string]string{"sqlite": "253402300799000000", "postgres": "'9999-12-31 UTC'", "sqlserver": "'9999-12-31'"}[f.db.Engine()]
}

// A step is counted in a transaction that is open while the doctor mends: it has to
// wait, and then to count that step as well.
func TestExamineJoinsRepairWaitsForAStep(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		id := f.fan(3)
		f.end(1, false)
		f.exec("UPDATE {outbox_join} SET completed_steps = 0")
		owner := outbox.NewOwnerToken()
		msgs, err := f.box.WorkQueue(steps).Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		tx := f.begin()
		_, err = tx.ExecContext(f.ctx(), f.db.Call("outbox_ack", fmt.Sprintf("'%s'", owner), f.db.IDs(int64(msgs[0].Position))))
		f.check(err)
		waits := f.db.Blocks(t, tx)
		mended := make(chan health.Finding, 1)
		go func() {
			mended <- worstOf(t, f.examine(engine.ExamineOptions{Fix: true, Timeout: time.Minute}), "joins")
		}()
		dbtest.Until(t, "the doctor waits", waits)
		f.check(tx.Commit())
		if found := <-mended; found.Level != health.Note {
			t.Errorf("%+v", found)
		}
		wantOK(t, f.examine(), "joins")
		f.wantJoin(id, 2, 0, join.Pending)
		f.end(1, false)
		f.wantJoin(id, 3, 0, join.Completed)
		f.wantSent("next", 1)
	})
}

// Workers settle steps while the doctor mends the counters that somebody spoils:
// in the end every join is over, its counters are its members, and its wait fired
// once.
func TestExamineJoinsRepairedWhileWorkersRun(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		const joins, members = 8, 12
		ids := make([]join.ID, joins)
		for i := range ids {
			ids[i] = f.fan(members)
		}
		working := make(chan struct{})
		var workers, doctors sync.WaitGroup
		for w := range 2 {
			workers.Go(func() {
				owner := outbox.NewOwnerToken()
				for n := 0; ; n++ {
					msgs, err := f.box.WorkQueue(steps).Claim(f.ctx(), owner, time.Minute, 3)
					if err != nil || len(msgs) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					var list []outbox.Position
					for _, m := range msgs {
						list = append(list, m.Position)
					}
					if _, err := f.box.WorkQueue("").Ack(f.ctx(), owner, list...); err != nil {
						t.Error(err)
					}
					if w == 0 && n%4 == 0 { // somebody spoils what is not over
						if _, err := f.db.SQL.ExecContext(f.ctx(), f.render("UPDATE {outbox_join} SET completed_steps = 0 WHERE status = 0 AND completed_steps < 6")); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		for range 2 {
			doctors.Go(func() {
				for over := false; !over; {
					select {
					case <-working:
						over = true // once more
					default:
					}
					found := worstOf(t, f.admin().ExamineWith(f.ctx(), access.Key{}, engine.ExamineOptions{Fix: true, Timeout: time.Minute}).Findings, "joins")
					if found.Level > health.Note {
						t.Errorf("%+v", found)
					}
				}
			})
		}
		workers.Wait()
		close(working)
		doctors.Wait()
		for _, id := range ids {
			f.wantJoin(id, members, 0, join.Completed)
		}
		wantOK(t, f.examine(), "joins")
		f.wantSent("next", joins)
	})
}
