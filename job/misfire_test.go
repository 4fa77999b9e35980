package job_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
)

// tenHours has an hourly job sleep over ten of its times, and returns those.
func (f *fixture) tenHours(jb job.Job) []time.Time {
	f.t.Helper()
	f.put(jb)
	next := f.get(name).NextRunAt
	f.asleep(10 * time.Hour)
	if f.e.Name == "sqlite" { // its clock moved on, the others' jobs moved back
		f.fire()
		return span(next, 10)
	}
	f.fire()
	return span(next.Add(-10*time.Hour), 10)
}

// span is so many hours.
func span(first time.Time, n int) (all []time.Time) {
	for i := range n {
		all = append(all, first.Add(time.Duration(i)*time.Hour))
	}
	return all
}

// history insists on a job's history: how many times were missed from the first
// on, and the runs for the others. An eleventh hour may have begun meanwhile.
func (f *fixture) history(due []time.Time, missed int, runs ...time.Time) {
	f.t.Helper()
	all := f.runs(name)
	if missed > 0 {
		if len(all) == 0 || all[0].Status != job.Missed || all[0].Missed != int64(missed) || !all[0].ScheduledAt.Equal(due[0]) {
			f.t.Fatalf("%d times from %v on should be missed: %+v", missed, due[0], all)
		}
		if r := all[0]; r.EndedAt.IsZero() || !r.StartedAt.IsZero() || r.Triggered || f.run(r.ID).Status != job.Missed {
			f.t.Fatalf("the record of what was missed is %+v", r)
		}
		all = all[1:]
	}
	var got []time.Time
	for _, r := range all {
		if r.Status != job.Pending || r.Missed != 0 || r.CreatedAt.Before(r.ScheduledAt) {
			f.t.Fatalf("made %+v", r)
		}
		got = append(got, r.ScheduledAt)
	}
	if !slices.EqualFunc(got, runs, time.Time.Equal) {
		f.t.Fatalf("runs for %v, want %v", got, runs)
	}
	if held := f.take(len(runs)); len(runs) > 0 && len(held.ids) != len(runs) {
		f.t.Fatal("not as many messages as runs")
	}
}

// D-83: the default makes one run, for the latest time, and records the others.
func TestMisfireOnce(t *testing.T) { dbtest.Each(t, testMisfireOnce) }

func testMisfireOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	due := f.tenHours(f.hourly())
	f.history(due, 9, due[9])
}

// D-83: one time that comes late is not missed.
func TestMisfireSingle(t *testing.T) { dbtest.Each(t, testMisfireSingle) }

func testMisfireSingle(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	next := f.get(name).NextRunAt
	r := f.made()
	if e.Name != "sqlite" {
		next = next.Add(-time.Hour)
	}
	f.history([]time.Time{next}, 0, next)
	if !r.ScheduledAt.Equal(next) {
		t.Fatalf("made %+v", r)
	}
}

// late has a job be due since a while ago, on either engine.
func (f *fixture) late(jb job.Job, d time.Duration) time.Time {
	f.t.Helper()
	f.put(jb)
	at := f.ago(d)
	switch f.e.Name {
	case "postgres":
		at = "date_trunc('second', " + at + ")"
	case "sqlserver":
		at = "CAST(" + at + " AS datetime2(0))"
	}
	f.set(name, "next_time = "+at)
	switch f.e.Name {
	case "sqlite":
		f.set(name, "next_time = next_time / 1000000 * 1000000")
		f.set(name, "due_at = next_time + shift")
	case "postgres":
		f.set(name, "due_at = next_time + shift * interval '1 microsecond'")
	case "sqlserver":
		f.set(name, "due_at = DATEADD(microsecond, shift % 1000000, DATEADD(second, shift / 1000000, next_time))")
	}
	return f.get(name).NextRunAt
}

// yearly fires once in a while: what is late is all that is due.
func (f *fixture) yearly(misfire job.Misfire) job.Job {
	jb := f.hourly()
	jb.Schedule, jb.Misfire = "@every 8760h", misfire
	return jb
}

// D-83: none are made, all are recorded, and the job goes on.
func TestMisfireNone(t *testing.T) { dbtest.Each(t, testMisfireNone) }

func testMisfireNone(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	at := f.late(f.yearly(job.RunNone), 2*time.Minute)
	f.fire()
	f.history([]time.Time{at}, 1)
	if got := f.get(name); !got.NextRunAt.Equal(at.Add(8760*time.Hour)) || !got.LastRunID.IsZero() {
		t.Fatalf("it is %+v", got)
	}
}

// D-83: what is at most a minute late is not missed, what was before it is.
func TestMisfireGrace(t *testing.T) { dbtest.Each(t, testMisfireGrace) }

func testMisfireGrace(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	at := f.late(f.yearly(job.RunNone), time.Minute/2)
	f.fire()
	f.history([]time.Time{at}, 0, at)
	f.check(f.Delete(t.Context(), name))
	f.exec("DELETE FROM " + f.db.Table("job_run"))
	jb := f.hourly()
	jb.Schedule, jb.Misfire = "@every 1h", job.RunNone
	at = f.late(jb, 9*time.Hour+time.Minute/2)
	f.fire()
	f.history([]time.Time{at}, 9, at.Add(9*time.Hour))
}

// D-83: how late a run is counts from when it was due, spread included.
func TestMisfireGraceSpread(t *testing.T) { dbtest.Each(t, testMisfireGraceSpread) }

func testMisfireGraceSpread(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.yearly(job.RunNone)
	jb.Spread = 24 * time.Hour
	f.put(jb)
	shift := f.dueAt(name).Sub(f.get(name).NextRunAt)
	at := f.late(jb, shift+time.Minute/2)
	f.fire()
	f.history([]time.Time{at}, 0, at)
}

// D-83
func TestMisfireAll(t *testing.T) { dbtest.Each(t, testMisfireAll) }

func testMisfireAll(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Misfire = job.RunAll
	due := f.tenHours(jb)
	f.history(due, 0, due...)
}

// D-83: the latest are made, the others are recorded.
func TestMisfireBound(t *testing.T) { dbtest.Each(t, testMisfireBound) }

func testMisfireBound(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Misfire, jb.MisfireLimit = job.RunAll, 4
	due := f.tenHours(jb)
	f.history(due, 6, due[6:]...)
}

// D-83
func TestMisfireBoundOne(t *testing.T) { dbtest.Each(t, testMisfireBoundOne) }

func testMisfireBoundOne(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Misfire, jb.MisfireLimit = job.RunAll, 1
	due := f.tenHours(jb)
	f.history(due, 9, due[9])
}

// D-83: a job of every second that slept for a year goes on at once, with the
// latest times.
func TestMisfireYear(t *testing.T) { dbtest.Each(t, testMisfireYear) }

func testMisfireYear(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Schedule, jb.Misfire, jb.MisfireLimit = "* * * * * *", job.RunAll, 100
	f.put(jb)
	f.asleep(365 * 24 * time.Hour)
	next := f.get(name).NextRunAt
	if n, err := f.source().Dispatch(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	all := f.runs(name)
	if len(all) != 101 || all[0].Status != job.Missed || !all[0].ScheduledAt.Equal(next) || all[0].Missed < 99_000 {
		t.Fatalf("%d records, the first is %+v", len(all), all[0])
	}
	for i, r := range all[2:] {
		if !r.ScheduledAt.Equal(all[i+1].ScheduledAt.Add(time.Second)) || r.Status != job.Pending {
			t.Fatalf("after %+v comes %+v", all[i+1], r)
		}
	}
	last := all[len(all)-1]
	if late := last.CreatedAt.Sub(last.ScheduledAt); late < 0 || !f.get(name).NextRunAt.Equal(last.ScheduledAt.Add(time.Second)) {
		t.Fatalf("the last of them is %+v", last)
	}
}

// D-83: what was missed is dealt with once, and the next time is the schedule's.
func TestMisfireGoesOn(t *testing.T) { dbtest.Each(t, testMisfireGoesOn) }

func testMisfireGoesOn(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	due := f.tenHours(f.hourly())
	if n := f.fire(); n != 0 {
		t.Fatalf("%d more were due", n)
	}
	if next := f.get(name).NextRunAt; !next.Equal(due[9].Add(time.Hour)) {
		t.Fatalf("next at %v", next)
	}
	if e.Name != "sqlite" {
		return
	}
	f.asleep(time.Hour)
	f.fire()
	f.statuses(name, job.Missed, job.Pending, job.Pending)
}

// D-82, D-83: what is made and missed makes up the schedule, whatever the moment.
func TestMisfireSeconds(t *testing.T) { dbtest.Each(t, testMisfireSeconds) }

func testMisfireSeconds(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Schedule, jb.Misfire, jb.MisfireLimit = "*/7 * * * * *", job.RunAll, 3
	f.put(jb)
	f.asleep(time.Hour)
	at := f.get(name).NextRunAt
	f.fire()
	all := f.runs(name)
	want := times(t, jb.Schedule, "", at, all[len(all)-1].ScheduledAt)
	made := all[1:] // the last three, and what came due while they were made
	if len(made) < 3 || all[0].Missed != int64(len(want)-len(made)) {
		t.Fatalf("of %d times %+v", len(want), all)
	}
	for i, r := range made {
		if w := want[len(want)-len(made)+i]; !r.ScheduledAt.Equal(w) {
			t.Errorf("run for %v, want %v", r.ScheduledAt, w)
		}
	}
}

// D-82, D-83: @every keeps its distance to the first time, also over a sleep that
// is too long to count.
func TestMisfireEvery(t *testing.T) { dbtest.Each(t, testMisfireEvery) }

func testMisfireEvery(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Schedule = "@every 7s"
	f.put(jb)
	f.asleep(40_000 * 7 * time.Second)
	at := f.get(name).NextRunAt
	f.fire()
	f.asleep(400_000 * 7 * time.Second)
	f.fire()
	for _, r := range f.runs(name) {
		if off := r.ScheduledAt.Sub(at) % (7 * time.Second); off != 0 {
			t.Errorf("%+v is off by %v", r, off)
		}
	}
	if off := f.get(name).NextRunAt.Sub(at) % (7 * time.Second); off != 0 {
		t.Errorf("the next is off by %v", off)
	}
}

// D-81, D-83: over a change of the clocks as cron has it.
func TestMisfireDaily(t *testing.T) { dbtest.Each(t, testMisfireDaily) }

func testMisfireDaily(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Schedule, jb.Zone, jb.Misfire, jb.MisfireLimit = "30 2 * * *", "America/New_York", job.RunAll, limits.Misfires
	f.put(jb)
	start := time.Now().AddDate(0, 0, -220).UTC().Truncate(time.Hour)
	at := start.Format("'2006-01-02 15:04:05Z'")
	if e.Name == "sqlserver" {
		at = start.Format("'2006-01-02T15:04:05'")
	}
	if e.Name == "sqlite" {
		at = fmt.Sprint(start.UnixMicro())
	}
	f.set(name, "next_time = "+at+", due_at = "+at)
	f.fire()
	all := f.runs(name)
	want := times(t, jb.Schedule, jb.Zone, start, all[len(all)-1].CreatedAt)
	if len(all) != len(want) || len(want) < 200 {
		t.Fatalf("%d runs, want %d", len(all), len(want))
	}
	for i, r := range all {
		if !r.ScheduledAt.Equal(want[i]) {
			t.Fatalf("run for %v, want %v", r.ScheduledAt, want[i])
		}
	}
}
