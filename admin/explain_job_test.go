package admin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
)

// put stores an hourly job that is not due within a test.
func (f *explainFixture) put(j job.Job) {
	f.t.Helper()
	j.Name, j.Topic = "report", "t"
	if j.Schedule == "" {
		j.Schedule = "15 * * * *"
		if time.Now().Minute() < 30 {
			j.Schedule = "45 * * * *"
		}
	}
	f.check(f.Jobs.Put(f.ctx(), j))
}

// asleep lets hours pass without a scheduler.
func (f *explainFixture) asleep(hours int) {
	f.t.Helper()
	if f.db.Engine() == "sqlite" {
		f.pass(time.Duration(hours) * time.Hour)
		return
	}
	by := time.Duration(hours) * time.Hour
	f.exec("UPDATE " + f.db.Table("job") + " SET next_time = " + f.db.Earlier("next_time", by) + ", due_at = " + f.db.Earlier("due_at", by))
}

func (f *explainFixture) makeRuns() {
	f.t.Helper()
	if _, err := f.Internal(access.Key{}).Sources()[2].Dispatch(f.ctx()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *explainFixture) set(assignment string) {
	f.t.Helper()
	f.exec("UPDATE " + f.db.Table("job") + " SET " + assignment)
}

func TestExplainJobNext(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.put(job.Job{Queue: "q"})
		x := f.explain("report", "job_next", "no_scheduler", "no_worker")
		f.says(x, "next run is made at", "(in ")
		f.next(x, "to have it run now: pawl jobs run report")
		f.fact(x, "queue", "q")
		f.worker("w", "q", "u")
		f.explain("report", "job_next", "no_handler")
		f.worker("v", "q", "t")
		f.because(f.explain("report", "job_next"))
		f.pause(admin.Queue, "q", "")
		f.explain("report", "job_next", "queue_paused")
	})
}

func TestExplainJobSpread(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.put(job.Job{Spread: time.Hour})
		x := f.explain("report", "job_next")
		f.says(x, "as its spread has it")
		info, err := f.Jobs.Get(f.ctx(), "report")
		f.check(err)
		if d := info.Due().Sub(info.NextRunAt); d <= 0 || d >= time.Hour {
			t.Errorf("due %v after its time", d)
		}
		f.says(x, info.Due().Format("2006-01-02 15:04:05Z"), info.NextRunAt.Format("2006-01-02 15:04:05Z"))
	})
}

func TestExplainJobDue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.put(job.Job{})
		f.asleep(1)
		x := f.explain("report", "no_scheduler", "no_worker")
		f.says(x, "A run is due since")
		f.next(x, "start a worker, of whatever queue")
		f.worker("w", "elsewhere")
		f.explain("report", "job_due", "no_worker")
		f.makeRuns()
		f.because(f.explain("report", "job_next", "no_worker"), "run run_pending")
	})
}

func TestExplainJobDisabled(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.put(job.Job{})
		f.check(f.Jobs.SetEnabled(f.ctx(), "report", false))
		f.next(f.explain("report", "job_disabled"), "pawl jobs enable report")
	})
}

func TestExplainJobBroken(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.put(job.Job{})
		f.asleep(1)
		f.set("zone = 'Mars/Olympus'")
		f.makeRuns()
		f.says(f.explain("report", "job_broken"), "Mars/Olympus")
	})
}

func TestExplainJobOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.put(job.Job{})
		f.set("next_time = NULL, due_at = NULL")
		f.explain("report", "job_over")
	})
}

func TestExplainJobRemoved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.put(job.Job{})
		_, err := f.Jobs.Trigger(f.ctx(), "report")
		f.check(err)
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, at))
		f.check(f.Jobs.Delete(f.ctx(), "report"))
		x := f.explain("report", "job_removed")
		f.next(x, "pawl jobs runs report")
		f.because(x, "run run_succeeded")
	})
}

func TestExplainJobOverlap(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.put(job.Job{Overlap: job.Skip})
		f.explain("report", "job_next")
		f.asleep(1)
		f.makeRuns()
		f.explain("report", "job_next", "job_overlap")
		if e.Name != "sqlite" { // where jobs move and the clock does not
			f.exec("UPDATE " + f.db.Table("job_run") + " SET scheduled_time = " + f.db.Earlier("scheduled_time", time.Hour))
		}
		f.asleep(1)
		f.makeRuns()
		x := f.explain("report", "job_next", "job_overlap")
		f.because(x, "run run_skipped", "run run_pending")
		skipped := f.explain(x.Causes[0].ID, "run_skipped")
		f.says(skipped, `"report"`, "an earlier one was not over")
		f.because(skipped)
	})
}

func TestExplainJobMissed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.put(job.Job{Misfire: job.RunNone})
		f.asleep(3)
		f.makeRuns()
		x := f.explain("report", "job_next")
		f.because(x, "run run_missed")
		missed := f.explain(x.Causes[0].ID, "run_missed")
		f.says(missed, "no scheduler was running", "times from then on")
		f.next(missed, "to have it run now: pawl jobs run report")
	})
}

// A run is its message, whichever of its ids one asks for.
func TestExplainJobRun(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.put(job.Job{})
		trigger := func() (string, string) {
			id, err := f.Jobs.Trigger(f.ctx(), "report")
			f.check(err)
			return id.String(), fmt.Sprint(f.at(id))
		}
		id, position := trigger()
		for _, ref := range []string{id, position} {
			x := f.explain(ref, "run_pending")
			f.because(x, "message queued")
			f.says(x, `of job "report"`, "waits as a message. It is due and next")
			if len(x.AlsoMatches) > 0 || x.ID != id {
				t.Errorf("%s is explained as %+v", ref, x)
			}
		}
		owner, at := f.one()
		f.because(f.explain(id, "run_running"), "message leased")
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, at))
		f.because(f.explain(id, "run_succeeded"), "message done")

		id, _ = trigger()
		owner, at = f.one()
		f.settled(f.Outbox.WorkQueue("").Fail(f.ctx(), owner, failure(), at))
		x := f.explain(id, "run_failed")
		f.says(x, "no such customer.")
		f.next(x, "pawl retry "+id)

		id, _ = trigger()
		f.settled(f.Outbox.Cancel(f.ctx(), "not today", f.at(mustID(t, id))))
		f.says(f.explain(id, "run_cancelled"), "not today.")
	})
}

func TestExplainJobRunUnknown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.put(job.Job{})
		id, err := f.Jobs.Trigger(f.ctx(), "report")
		f.check(err)
		for _, table := range []string{"outbox_ready", "outbox_message"} {
			f.exec("DELETE FROM " + f.db.Table(table))
		}
		f.because(f.explain(id.String(), "run_unknown"))
	})
}
