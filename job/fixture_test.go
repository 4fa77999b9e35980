package job_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// fixture is jobs and their outbox on a fresh database.
type fixture struct {
	*parts.Jobs
	box *parts.Outbox
	t   *testing.T
	db  dbtest.Database
	e   dbtest.Engine

	schedule string // of hourly
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func open(t *testing.T, e dbtest.Engine) *fixture {
	t.Helper()
	db := e.Open(t)
	return on(t, e, db, db.DB, job.Options{})
}

// on returns jobs over one handle on a database. Failed attempts are due again at
// once.
func on(t *testing.T, e dbtest.Engine, db dbtest.Database, handle engine.DB, o job.Options) *fixture {
	retry := &worker.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}
	box := parts.NewOutbox(handle, worker.Options{StopWhenEmpty: true, Logger: quiet(), Retention: time.Millisecond, Retry: retry})
	f := &fixture{Jobs: parts.NewJobs(handle, box, o, quiet()), box: box, t: t, db: db, e: e, schedule: "15 * * * *"}
	if time.Now().Minute() < 30 {
		f.schedule = "45 * * * *"
	}
	return f
}

// another is the same database as another process sees it.
func (f *fixture) another() *fixture {
	f.t.Helper()
	other := on(f.t, f.e, f.db, f.db.Another(f.t), job.Options{})
	other.schedule = f.schedule
	return other
}

const lease = time.Minute

// name is the job that most tests are about.
const name = "report"

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// hourly is a job that is due in a quarter of an hour at the earliest, so that none
// falls due but when a test sleeps.
func (f *fixture) hourly() job.Job {
	return job.Job{Name: name, Topic: "make", Schedule: f.schedule, Payload: []byte("all of it")}
}

// put stores jobs.
func (f *fixture) put(jobs ...job.Job) {
	f.t.Helper()
	for _, jb := range jobs {
		f.check(f.Put(f.ctx(), jb))
	}
}

func (f *fixture) get(name string) *job.Info {
	f.t.Helper()
	info, err := f.Get(f.ctx(), name)
	f.check(err)
	return info
}

func (f *fixture) trigger(name string) job.RunID {
	f.t.Helper()
	id, err := f.Trigger(f.ctx(), name)
	f.check(err)
	return id
}

func (f *fixture) run(id job.RunID) *job.Run {
	f.t.Helper()
	r, err := f.GetRun(f.ctx(), id)
	f.check(err)
	return r
}

// runs returns the whole history of a job, first time first.
func (f *fixture) runs(name string) []*job.Run {
	f.t.Helper()
	found, err := engine.Collect(f.Runs(f.ctx(), name, job.RunsOptions{}), 10_000)
	f.check(err)
	slices.Reverse(found)
	var all []*job.Run
	for i := range found {
		all = append(all, &found[i])
	}
	return all
}

// statuses insists on what a job's history is, first time first.
func (f *fixture) statuses(name string, want ...job.Status) []*job.Run {
	f.t.Helper()
	got := f.runs(name)
	var have []job.Status
	for _, r := range got {
		have = append(have, r.Status)
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		f.t.Fatalf("the history of %s is %v, want %v", name, have, want)
	}
	return got
}

// exec runs a statement of the test's own; $1 … are its parameters on either engine.
func (f *fixture) exec(statement string, args ...any) {
	f.t.Helper()
	if _, err := f.db.SQL.ExecContext(f.ctx(), statement, args...); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// set changes a job's row behind everybody's back.
func (f *fixture) set(name, assignments string, args ...any) {
	f.t.Helper()
	f.exec("UPDATE "+f.db.Table("job")+" SET "+assignments+" WHERE name = '"+name+"'", args...)
}

// ago is an SQL expression for a moment before the database's now.
func (f *fixture) ago(d time.Duration) string {
	if f.e.Name == "sqlite" { // whose clock the test moves
		return fmt.Sprint(f.now().Add(-d).UnixMicro())
	}
	return f.db.Earlier(f.db.Clock(), d)
}

// now is the database's clock.
func (f *fixture) now() time.Time {
	f.t.Helper()
	clock, _, err := engine.Get(f.ctx(), f.db, op.ClockNow{})
	f.check(err)
	return clock.Now
}

// asleep lets time pass without a scheduler: on SQLite its clock moves on, on servers
// the jobs move back. d must be periods of their schedules.
func (f *fixture) asleep(d time.Duration) {
	f.t.Helper()
	if f.e.Name == "sqlite" {
		f.db.Pass(d)
		return
	}
	f.exec("UPDATE " + f.db.Table("job") + " SET next_time = " + f.db.Earlier("next_time", d) + ", due_at = " + f.db.Earlier("due_at", d))
}

// fire does what is due, and returns how many jobs that were.
func (f *fixture) fire() int64 {
	f.t.Helper()
	var total int64
	for {
		n, err := f.source().Dispatch(f.ctx())
		f.check(err)
		if n == 0 {
			return total
		}
		if total += n; total > 10_000 {
			f.t.Fatal("there is no end to what is due")
		}
	}
}

func (f *fixture) source() worker.Source { return f.Sources[0] }

// made lets an hourly job fall due once, and returns its run.
func (f *fixture) made() *job.Run {
	f.t.Helper()
	f.asleep(time.Hour)
	f.fire()
	var last *job.Run
	for _, r := range f.runs(name) {
		if !r.Triggered && (last == nil || r.CreatedAt.After(last.CreatedAt)) {
			last = r
		}
	}
	if last == nil {
		f.t.Fatal("no run was made")
	}
	return last
}

// back moves what runs there are back by an hour, where jobs move and the clock
// does not: else the next would have the time of the last.
func (f *fixture) back() {
	f.t.Helper()
	if f.e.Name == "sqlite" {
		return
	}
	for _, by := range []time.Duration{876001 * time.Hour, -876000 * time.Hour} { // never onto each other
		f.exec("UPDATE " + f.db.Table("job_run") + " SET scheduled_time = " + f.db.Earlier("scheduled_time", by))
	}
}

// drain handles what is due. Outboxes run once, so it works through another one.
func (f *fixture) drain(topic string, h outbox.Handler) {
	f.t.Helper()
	again := on(f.t, f.e, f.db, f.db.DB, job.Options{})
	again.box.Handle(topic, h)
	f.check(again.box.Run(f.ctx()))
}

func done(context.Context, *outbox.Message) error { return nil }

// times enumerates a schedule as package cron has it, from first to last.
func times(t testing.TB, schedule, zone string, first, last time.Time) []time.Time {
	t.Helper()
	s, err := cron.Parse(schedule)
	if err != nil {
		t.Fatal(err)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	var all []time.Time
	at, ok := first, true
	for ; ok && !at.After(last); at, ok = s.Next(at, loc) {
		all = append(all, at.UTC())
	}
	return all
}
