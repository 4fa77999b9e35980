package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

func (f *fixture) skipping() job.Job {
	jb := f.hourly()
	jb.Overlap = job.Skip
	return jb
}

// hour lets an hour pass and does what is due then.
func (f *fixture) hour() {
	f.t.Helper()
	f.back()
	f.asleep(time.Hour)
	f.fire()
}

// D-86
func TestOverlapAllow(t *testing.T) { dbtest.Each(t, testOverlapAllow) }

func testOverlapAllow(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.hour()
	f.hour()
	f.statuses(name, job.Pending, job.Pending)
}

// D-86: what is skipped is recorded, has no message, and is not made up for.
func TestOverlapPending(t *testing.T) { dbtest.Each(t, testOverlapPending) }

func testOverlapPending(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.skipping())
	f.hour()
	last := f.get(name).LastRunID
	f.hour()
	f.hour()
	for _, r := range f.statuses(name, job.Pending, job.Skipped, job.Skipped)[1:] {
		if _, err := f.box.Get(t.Context(), r.ID); err == nil || r.EndedAt.IsZero() || !r.StartedAt.IsZero() || f.get(name).LastRunID != last {
			t.Fatalf("skipped %+v, %v", r, err)
		}
	}
	f.drain("make", done)
	f.hour()
	f.statuses(name, job.Succeeded, job.Skipped, job.Skipped, job.Pending)
}

// D-86
func TestOverlapRunning(t *testing.T) { dbtest.Each(t, testOverlapRunning) }

func testOverlapRunning(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.skipping())
	f.hour()
	f.drain("make", func(context.Context, *outbox.Message) error {
		if len(f.runs(name)) == 1 {
			f.hour()
		}
		return nil
	})
	f.statuses(name, job.Succeeded, job.Skipped)
	f.hour()
	f.statuses(name, job.Succeeded, job.Skipped, job.Pending)
}

// D-86
func TestOverlapRetrying(t *testing.T) { dbtest.Each(t, testOverlapRetrying) }

func testOverlapRetrying(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.skipping())
	f.hour()
	f.abandon(f.take(1), 24*time.Hour)
	f.hour()
	f.statuses(name, job.Pending, job.Skipped)
}

// D-86: a failed run waits for somebody, not for another attempt.
func TestOverlapFailed(t *testing.T) { dbtest.Each(t, testOverlapFailed) }

func testOverlapFailed(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.skipping())
	f.hour()
	f.drain("make", fails)
	f.hour()
	f.statuses(name, job.Failed, job.Pending)
	f.drain("make", done)
	_, err := f.box.Redrive(t.Context(), outbox.FailedFilter{})
	f.check(err)
	f.hour()
	f.statuses(name, job.Pending, job.Succeeded, job.Skipped)
}

// D-86
func TestOverlapDiscarded(t *testing.T) { dbtest.Each(t, testOverlapDiscarded) }

func testOverlapDiscarded(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.skipping())
	f.hour()
	f.drain("make", fails)
	_, err := f.box.Discard(t.Context(), outbox.FailedFilter{})
	f.check(err)
	f.hour()
	f.statuses(name, job.Cancelled, job.Pending)
}

// D-86, D-83: of several runs that are made up for together the first goes.
func TestOverlapCatchUp(t *testing.T) { dbtest.Each(t, testOverlapCatchUp) }

func testOverlapCatchUp(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.skipping()
	jb.Misfire, jb.MisfireLimit = job.RunAll, 3
	f.tenHours(jb)
	f.statuses(name, job.Missed, job.Pending, job.Skipped, job.Skipped)
}

// D-86: only the job's own runs count.
func TestOverlapOther(t *testing.T) { dbtest.Each(t, testOverlapOther) }

func testOverlapOther(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := f.skipping()
	other.Name = "other"
	f.put(f.skipping(), other)
	f.trigger("other")
	f.enqueue()
	f.hour()
	f.statuses(name, job.Pending)
}

// D-82: a job's part of its spread is the same everywhere, and jobs do differ.
func TestSpreadStable(t *testing.T) { dbtest.Each(t, testSpreadStable) }

func testSpreadStable(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	shifts := map[time.Duration]bool{}
	other := f.another()
	for i := range 8 {
		jb := f.hourly()
		jb.Name, jb.Spread = "job "+string(rune('a'+i)), time.Hour
		f.put(jb)
		before := f.dueAt(jb.Name).Sub(f.get(jb.Name).NextRunAt)
		f.check(f.Delete(t.Context(), jb.Name))
		f.check(other.Put(t.Context(), jb))
		if after := f.dueAt(jb.Name).Sub(f.get(jb.Name).NextRunAt); after != before || after < 0 || after >= time.Hour {
			t.Errorf("%s is due %v late, then %v", jb.Name, before, after)
		}
		shifts[before] = true
	}
	if len(shifts) < 7 {
		t.Fatalf("8 jobs have %d parts", len(shifts))
	}
}

// D-82: it is made later, for the time that the schedule says.
func TestSpreadDue(t *testing.T) { dbtest.Each(t, testSpreadDue) }

func testSpreadDue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.yearly(job.RunOnce)
	jb.Spread = 2 * time.Hour
	f.put(jb)
	shift := f.dueAt(name).Sub(f.get(name).NextRunAt)
	at := f.late(jb, shift-time.Minute)
	if n := f.fire(); n != 0 || f.get(name).NextRunAt != at {
		t.Fatalf("%d were due early", n)
	}
	at = f.late(jb, shift+time.Second)
	f.fire()
	if r := f.statuses(name, job.Pending)[0]; !r.ScheduledAt.Equal(at) || r.CreatedAt.Before(at.Add(shift)) {
		t.Fatalf("made %+v, want it %v late", r, shift)
	}
	if got, due := f.get(name).NextRunAt, f.dueAt(name); due.Sub(got) != shift || !got.Equal(first(t, jb.Schedule, "", at)) {
		t.Fatalf("then it is due at %v for %v", due, got)
	}
	next, err := f.Next(t.Context(), name, 3)
	f.check(err)
	for i, n := range next {
		if want := f.get(name).NextRunAt.Add(time.Duration(i) * 8760 * time.Hour); !n.Equal(want) {
			t.Fatalf("next are %v", next)
		}
	}
}
