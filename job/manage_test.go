package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
)

// D-84
func TestDisabledMakesNoRuns(t *testing.T) { dbtest.Each(t, testDisabledMakesNoRuns) }

func testDisabledMakesNoRuns(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.check(f.SetEnabled(t.Context(), name, false))
	if got := f.get(name); got.Enabled || !got.NextRunAt.IsZero() {
		t.Fatalf("it is %+v", got)
	}
	if _, ok, err := f.source().NextDue(t.Context()); ok || err != nil {
		t.Fatalf("something is due: %v", err)
	}
	f.asleep(5 * time.Hour)
	f.fire()
	f.statuses(name)
}

// D-84: also a run that was due when it was disabled is not made, and none of
// those in between.
func TestEnabledGoesOn(t *testing.T) { dbtest.Each(t, testEnabledGoesOn) }

func testEnabledGoesOn(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Misfire = job.RunAll
	f.put(jb)
	f.asleep(2 * time.Hour)
	f.check(f.SetEnabled(t.Context(), name, false))
	f.fire()
	f.asleep(5 * time.Hour)
	f.check(f.SetEnabled(t.Context(), name, true))
	f.fire()
	f.statuses(name)
	got := f.get(name)
	if want := first(t, jb.Schedule, "", got.UpdatedAt); !got.Enabled || !got.NextRunAt.Equal(want) {
		t.Fatalf("it is %+v", got)
	}
	if r := f.made(); r.Status != job.Pending || e.Name == "sqlite" && !r.ScheduledAt.Equal(got.NextRunAt) {
		t.Fatalf("made %+v", r)
	}
}

// D-84: switching to what it is changes nothing.
func TestSwitchedTwice(t *testing.T) { dbtest.Each(t, testSwitchedTwice) }

func testSwitchedTwice(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.asleep(time.Hour)
	before := f.row(name)
	f.check(f.SetEnabled(t.Context(), name, true))
	if after := f.row(name); after != before {
		t.Fatalf("from %s to %s", before, after)
	}
	f.check(f.SetEnabled(t.Context(), name, false))
	updated := f.get(name).UpdatedAt
	f.db.Pass(5 * time.Millisecond)
	f.check(f.another().SetEnabled(t.Context(), name, false))
	if !f.get(name).UpdatedAt.Equal(updated) {
		t.Fatal("disabling twice wrote twice")
	}
}

// D-85: a job whose schedule cannot be followed cannot be enabled.
func TestEnableBroken(t *testing.T) { dbtest.Each(t, testEnableBroken) }

func testEnableBroken(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.check(f.SetEnabled(t.Context(), name, false))
	f.set(name, "zone = 'Mars/Olympus'")
	var fault interface{ Field() string }
	if err := f.SetEnabled(t.Context(), name, true); !errors.As(err, &fault) || fault.Field() != "zone" {
		t.Fatalf("got %v", err)
	}
	if f.get(name).Enabled {
		t.Fatal("enabled")
	}
}

// D-84: a run beside the schedule, which stays as it is.
func TestTrigger(t *testing.T) { dbtest.Each(t, testTrigger) }

func testTrigger(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := full()
	jb.Queue = ""
	f.put(jb)
	before := f.row(name)
	id := f.trigger(name)
	if after := f.row(name); after != before {
		t.Fatalf("from %s to %s", before, after)
	}
	r := f.run(id)
	if !r.Triggered || r.Status != job.Pending || r.Job != name || r.ID != id || !r.ScheduledAt.Equal(r.CreatedAt) && r.CreatedAt.Sub(r.ScheduledAt).Abs() > time.Minute {
		t.Fatalf("the run is %+v", r)
	}
	m, err := f.box.Get(t.Context(), id)
	f.check(err)
	if m.Topic != jb.Topic || string(m.Payload) != string(jb.Payload) || m.Headers["tenant"] != "7" || m.Headers[job.HeaderJob] != name || m.Priority != jb.Priority || m.Position != r.Position {
		t.Fatalf("the message is %+v", m)
	}
	if again := f.trigger(name); again == id {
		t.Fatal("the same run twice")
	}
	if got := f.get(name); got.LastRunStatus != job.Pending || got.LastRunAt.IsZero() {
		t.Fatalf("the job is %+v", got)
	}
	f.drain("make", done)
	f.statuses(name, job.Succeeded, job.Succeeded)
}

// D-84
func TestTriggerDisabled(t *testing.T) { dbtest.Each(t, testTriggerDisabled) }

func testTriggerDisabled(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.check(f.SetEnabled(t.Context(), name, false))
	f.trigger(name)
	if got := f.get(name); got.Enabled || !got.NextRunAt.IsZero() {
		t.Fatalf("it is %+v", got)
	}
	f.drain("make", done)
	f.statuses(name, job.Succeeded)
}

// D-84, D-86: whatever the overlap policy; the triggered run counts as unfinished
// for those of the schedule.
func TestTriggerOverlap(t *testing.T) { dbtest.Each(t, testTriggerOverlap) }

func testTriggerOverlap(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Overlap = job.Skip
	f.put(jb)
	first, second := f.trigger(name), f.trigger(name)
	for _, id := range []job.RunID{first, second} {
		if r := f.run(id); r.Status != job.Pending {
			t.Fatalf("the run is %+v", r)
		}
	}
	f.asleep(time.Hour)
	f.fire()
	skipped := 0
	for _, r := range f.runs(name) {
		if r.Status == job.Skipped && !r.Triggered {
			skipped++
		}
	}
	if skipped != 1 {
		t.Fatalf("%d runs were skipped", skipped)
	}
	if got := f.get(name); got.LastRunID != second {
		t.Fatalf("the last run is %v", got.LastRunID)
	}
}

// D-84
func TestUnknownJob(t *testing.T) { dbtest.Each(t, testUnknownJob) }

func testUnknownJob(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	const other = "Report"
	_, err1 := f.Get(t.Context(), other)
	_, err2 := f.Trigger(t.Context(), other)
	_, err3 := f.Next(t.Context(), other, 3)
	_, err4 := f.GetRun(t.Context(), job.RunID{1})
	_, err5 := f.GetRun(t.Context(), f.messageID())
	for i, err := range []error{
		err1, err2, err3, err4, err5,
		f.Delete(t.Context(), other), f.SetEnabled(t.Context(), other, true), f.SetEnabled(t.Context(), other, false),
	} {
		if !errors.Is(err, job.ErrNotFound) {
			t.Errorf("call %d: want ErrNotFound, got %v", i, err)
		}
	}
	if all, err := engine.Collect(f.Runs(t.Context(), other, job.RunsOptions{}), 100); err != nil || len(all) != 0 {
		t.Errorf("it has %v, %v", all, err)
	}
	f.statuses(name)
}
