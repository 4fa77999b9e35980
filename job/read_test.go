package job_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// D-2
func TestListPages(t *testing.T) { dbtest.Each(t, testListPages) }

func testListPages(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var want []string
	for i := range 105 {
		jb := f.hourly()
		jb.Name = fmt.Sprintf("job %03d", i)
		f.put(jb)
		want = append(want, jb.Name)
	}
	for _, limit := range []int{0, 1, 50, 105} {
		var got []string
		for after := (*job.Info)(nil); ; after = (&job.Info{Job: job.Job{Name: got[len(got)-1]}}) {
			page, err := engine.Collect(f.List(t.Context(), job.ListOptions{After: after}), limit)
			f.check(err)
			for _, info := range page {
				got = append(got, info.Name)
			}
			if len(page) == 0 || limit == 1 && len(got) == 5 {
				break
			}
		}
		if !slices.Equal(got, want[:len(got)]) || limit != 1 && len(got) != len(want) {
			t.Fatalf("limit %d: %v", limit, got)
		}
	}
}

// paged reads a job's history in pages.
func (f *fixture) paged(name string, limit int) []job.Run {
	f.t.Helper()
	var got []job.Run
	for filter := (job.RunsOptions{}); ; {
		page, err := engine.Collect(f.Runs(f.ctx(), name, filter), limit)
		f.check(err)
		if len(page) == 0 {
			return got
		}
		if got = append(got, page...); len(got) > 1000 {
			f.t.Fatal("there is no end to it")
		}
		filter.After = &page[len(page)-1]
	}
}

// D-85: latest time first, each once.
func TestRunsPages(t *testing.T) { dbtest.Each(t, testRunsPages) }

func testRunsPages(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Misfire, jb.MisfireLimit = job.RunAll, 20
	f.tenHours(jb)
	f.trigger(name)
	other := jb
	other.Name = "other"
	f.put(other)
	f.trigger("other")
	whole := f.paged(name, 100)
	if len(whole) != 11 {
		t.Fatalf("%d runs", len(whole))
	}
	for i, r := range whole[1:] {
		if !r.ScheduledAt.Before(whole[i].ScheduledAt) || r.Job != name {
			t.Fatalf("after %+v comes %+v", whole[i], r)
		}
	}
	for _, limit := range []int{1, 3, 11} {
		got := f.paged(name, limit)
		if !slices.EqualFunc(got, whole, func(a, b job.Run) bool { return a == b }) {
			t.Fatalf("in pages of %d: %d runs", limit, len(got))
		}
	}
}

// D-85: also where several have the same time.
func TestRunsTies(t *testing.T) { dbtest.Each(t, testRunsTies) }

func testRunsTies(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	for range 7 {
		f.trigger(name)
	}
	f.exec("UPDATE " + f.db.Table("job_run") + " SET scheduled_time = (SELECT min(scheduled_time) FROM " + f.db.Table("job_run") + ")")
	seen := map[job.RunID]bool{}
	for _, r := range f.paged(name, 2) {
		seen[r.ID] = true
	}
	if len(seen) != 7 {
		t.Fatalf("%d of 7 runs", len(seen))
	}
}

// D-80
func TestNext(t *testing.T) { dbtest.Each(t, testNext) }

func testNext(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	next := f.get(name).NextRunAt
	got, err := f.Next(t.Context(), name, 5)
	f.check(err)
	if !slices.EqualFunc(got, span(next, 5), time.Time.Equal) {
		t.Fatalf("next are %v", got)
	}
	for _, n := range []int{0, -1} {
		if got, err := f.Next(t.Context(), name, n); err != nil || len(got) != 0 {
			t.Fatalf("next %d are %v, %v", n, got, err)
		}
	}
	f.check(f.SetEnabled(t.Context(), name, false))
	if got, err := f.Next(t.Context(), name, 5); err != nil || len(got) != 0 {
		t.Fatalf("next of a disabled job are %v, %v", got, err)
	}
}

// D-81: by the clock on the wall of the job's zone.
func TestNextShift(t *testing.T) { dbtest.Each(t, testNextShift) }

func testNextShift(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, zone := range []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo"} {
		jb := f.hourly()
		jb.Name, jb.Zone, jb.Schedule = zone, zone, "15 2 * * *"
		f.put(jb)
		got, err := f.Next(t.Context(), zone, 800)
		f.check(err)
		want := times(t, jb.Schedule, zone, f.get(zone).NextRunAt, got[len(got)-1])
		if len(got) != 800 || !slices.EqualFunc(got, want, time.Time.Equal) || got[0].Location().String() != zone {
			t.Errorf("%s: next are %d times from %v to %v", zone, len(got), got[0], got[len(got)-1])
		}
	}
}

// D-83: a run that is due and not made yet is the next.
func TestNextOverdue(t *testing.T) { dbtest.Each(t, testNextOverdue) }

func testNextOverdue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.asleep(3 * time.Hour)
	got, err := f.Next(t.Context(), name, 2)
	f.check(err)
	if next := f.get(name).NextRunAt; len(got) != 2 || !got[0].Equal(next) || !got[1].Equal(next.Add(time.Hour)) {
		t.Fatalf("next are %v", got)
	}
}

// D-102: column for column.
func TestViews(t *testing.T) { dbtest.Each(t, testViews) }

func testViews(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for view, columns := range map[string][]string{
		"jobs": {"id", "job_name", "cron_schedule", "topic", "payload", "is_enabled", "next_due_time", "last_run_time", "last_run_status"},
		"job_runs": {
			"id", "job_id", "scheduled_time", "status", "claimed_by", "claimed_at", "retry_count", "start_time", "end_time", "output", "last_error",
		},
	} {
		rows, err := f.db.SQL.QueryContext(t.Context(), "SELECT * FROM "+f.db.Table(view))
		f.check(err)
		got, err := rows.Columns()
		f.check(err)
		f.check(rows.Err())
		f.check(rows.Close())
		if len(got) < len(columns) || !slices.Equal(got[:len(columns)], columns) {
			t.Errorf("%s has %v, want %v first", view, got, columns)
		}
	}
}

// given is an expression of every engine's SQL: whether a column is not null.
func given(column string) string { return "CASE WHEN " + column + " IS NULL THEN 0 ELSE 1 END" }

// viewed is a row of job_runs.
func (f *fixture) viewed(id job.RunID) (status string, started, ended, claimed bool, retries int) {
	f.t.Helper()
	f.db.Row(f.t, "SELECT status, "+given("start_time")+", "+given("end_time")+", "+given("claimed_by")+", retry_count FROM "+f.db.Table("job_runs")+
		" WHERE id = '"+id.String()+"' AND output IS NULL", &status, &started, &ended, &claimed, &retries)
	return status, started, ended, claimed, retries
}

// D-102, D-85
func TestViewsLive(t *testing.T) { dbtest.Each(t, testViewsLive) }

func testViewsLive(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	var jobID, runJob, cron, topic, payload string
	var enabled, next, ran bool
	last := new(string)
	look := func(want string) {
		t.Helper()
		f.db.Row(t, "SELECT id, cron_schedule, topic, payload, is_enabled, "+given("next_due_time")+", "+given("last_run_time")+", coalesce(last_run_status, '') FROM "+
			f.db.Table("jobs")+" WHERE job_name = '"+name+"'", &jobID, &cron, &topic, &payload, &enabled, &next, &ran, last)
		if cron != f.schedule || topic != "make" || payload != "all of it" || !enabled || !next || ran != (want != "") || *last != want {
			t.Fatalf("the view says %s %s %q %v %v %v %q, want the last run %q", cron, topic, payload, enabled, next, ran, *last, want)
		}
	}
	look("")
	id := f.trigger(name)
	look("Pending")
	if s, started, ended, claimed, retries := f.viewed(id); s != "Pending" || started || ended || claimed || retries != 0 {
		t.Fatal(s, started, ended, claimed, retries)
	}
	attempt := 0
	f.drain("make", func(ctx context.Context, m *outbox.Message) error {
		look("Running")
		if s, started, ended, claimed, retries := f.viewed(id); s != "Running" || !started || ended || !claimed || retries != attempt {
			t.Error(s, started, ended, claimed, retries)
		}
		if attempt++; attempt == 1 {
			return fails(ctx, m)
		}
		return nil
	})
	look("Succeeded")
	if s, started, ended, claimed, retries := f.viewed(id); s != "Succeeded" || !started || !ended || !claimed || retries != 1 {
		t.Fatal(s, started, ended, claimed, retries)
	}
	f.db.Row(t, "SELECT job_id FROM "+f.db.Table("job_runs"), &runJob)
	if runJob != jobID {
		t.Fatalf("the run is of job %s, want %s", runJob, jobID)
	}
}

// onPostgres runs a test on PostgreSQL alone, beside the package's others.
func onPostgres(t *testing.T, test func(*testing.T, dbtest.Engine)) {
	t.Helper()
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, dbtest.Engine{Name: "postgres", Open: dbtest.OpenPostgres})
	})
}

// D-84, D-102: programs in other languages trigger jobs.
func TestRoutineTrigger(t *testing.T) { onPostgres(t, testRoutineTrigger) }

func testRoutineTrigger(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	before := f.row(name)
	var text string
	f.db.Row(t, "SELECT "+f.db.Table("job_trigger")+"('"+name+"')", &text)
	id, err := outbox.ParseMessageID(text)
	f.check(err)
	if r := f.run(id); !r.Triggered || r.Status != job.Pending || f.row(name) != before {
		t.Fatalf("the run is %+v", r)
	}
	f.drain("make", done)
	f.statuses(name, job.Succeeded)
	if err := f.db.SQL.QueryRowContext(t.Context(), "SELECT "+f.db.Table("job_trigger")+"('other')").Scan(&text); err == nil {
		t.Fatal("an unknown job was triggered")
	}
}

// D-84, D-102
func TestRoutineDelete(t *testing.T) { onPostgres(t, testRoutineDelete) }

func testRoutineDelete(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	for _, want := range []bool{true, false} {
		var deleted bool
		f.db.Row(t, "SELECT "+f.db.Table("job_delete")+"('"+name+"')", &deleted)
		if deleted != want {
			t.Fatalf("deleted: %v, want %v", deleted, want)
		}
	}
	f.nothing()
	if got := f.delivered(); got[id] != 0 {
		t.Fatal("a run of the deleted job was delivered")
	}
}
