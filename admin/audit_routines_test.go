package admin_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/timer"
)

// D-116: what a program in another language does to a timer, a join or a job is noted as its role's act, in its
// transaction.
func TestAuditRoutines(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		id, err := f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "t", Due: time.Now().Add(time.Hour)})
		f.check(err)
		joined, err := f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 1})
		f.check(err)
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "j", Topic: "t", Schedule: "@yearly"}))
		role, later := f.db.User(t), time.Now().Add(2*time.Hour).UTC().Format("'2006-01-02T15:04:05Z'")
		for _, c := range []struct{ call, action, target string }{
			{f.db.Call("timer_reschedule", "'"+id.String()+"'", later), audit.Reschedule, "timer " + id.String()},
			{f.db.Call("timer_cancel", "'"+id.String()+"'"), audit.Cancel, "timer " + id.String()},
			{f.db.Call("outbox_join_cancel", "'"+joined.String()+"'"), audit.Cancel, "join " + joined.String()},
			{f.db.Call("job_trigger", "'j'"), audit.Trigger, "job j"},
			{f.db.Call("job_delete", "'j'"), audit.Remove, "job j"},
			{f.db.Call("limit_set", "'topic'", "'t'", "5"), "limit", "topic t"},
			{f.db.Call("limit_remove", "'topic'", "'t'"), "unlimit", "topic t"},
		} {
			before := len(f.trail(audit.Options{}))
			tx := f.db.Begin(t)
			_, err := tx.ExecContext(f.ctx(), c.call)
			f.check(err)
			f.check(tx.Rollback())
			if n := len(f.trail(audit.Options{})); n != before {
				t.Errorf("%s: rolled back, and noted", c.call)
			}
			_, err = f.db.SQL.ExecContext(f.ctx(), c.call)
			f.check(err)
			all := f.trail(audit.Options{})
			if got := all[0]; len(all) != before+1 || got.Action != c.action || got.Target != c.target || got.Actor != role || got.Count != 1 {
				t.Errorf("%s: %d entries more, the last is %+v", c.call, len(all)-before, got)
			}
			if c.action == audit.Trigger || c.action == audit.Reschedule {
				continue
			}
			_, err = f.db.SQL.ExecContext(f.ctx(), c.call)
			f.check(err)
			if n := len(f.trail(audit.Options{})); n != before+1 {
				t.Errorf("%s: what changed nothing was noted", c.call)
			}
		}
	})
}
