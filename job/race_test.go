package job_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
)

// together runs something at the same time in five processes.
func (f *fixture) together(do func(i int, f *fixture)) {
	f.t.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range 5 {
		other := f.another()
		wg.Go(func() {
			<-start
			do(i, other)
		})
	}
	close(start)
	wg.Wait()
}

// D-82: five processes fire at once, and there is one run per nominal time.
func TestFiveAtOnce(t *testing.T) { dbtest.Each(t, testFiveAtOnce) }

func testFiveAtOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	names := []string{"a", "b", "c", "d"}
	for _, n := range names {
		jb := f.hourly()
		jb.Name = n
		f.put(jb)
	}
	for round := 1; round <= 5; round++ {
		f.back()
		f.asleep(time.Hour)
		f.together(func(_ int, f *fixture) {
			if _, err := f.source().Dispatch(f.ctx()); err != nil {
				t.Error(err)
			}
		})
		for _, n := range names {
			f.hours(n, round)
		}
	}
	if counts, err := f.box.Count(t.Context()); err != nil || counts.Ready != int64(5*len(names)) {
		t.Fatalf("the outbox has %+v, %v", counts, err)
	}
}

// hours insists on a history of so many pending runs, an hour apart.
func (f *fixture) hours(name string, n int) {
	f.t.Helper()
	all := f.runs(name)
	if len(all) != n {
		f.t.Fatalf("%s has %d runs, want %d", name, len(all), n)
	}
	for i, r := range all {
		if r.Status != job.Pending || !r.ScheduledAt.Equal(all[0].ScheduledAt.Add(time.Duration(i)*time.Hour)) {
			f.t.Fatalf("%s has run %+v", name, r)
		}
	}
}

// D-82, D-83
func TestFiveCatchUp(t *testing.T) { dbtest.Each(t, testFiveCatchUp) }

func testFiveCatchUp(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Misfire, jb.MisfireLimit = job.RunAll, 100
	f.put(jb)
	f.asleep(24 * time.Hour)
	f.together(func(_ int, f *fixture) {
		if _, err := f.source().Dispatch(f.ctx()); err != nil {
			t.Error(err)
		}
	})
	f.hours(name, 24)
}

// halted is a database that lets something happen just before runs are made.
type halted struct {
	engine.DB
	before func()
}

func (h *halted) Do(ctx context.Context, calls ...*engine.Call) error {
	if slices.ContainsFunc(calls, func(c *engine.Call) bool { return c.Name() == "job/fire" }) {
		h.before()
	}
	return h.DB.Do(ctx, calls...)
}

// behind fires in a process that decided what to do before something happened.
func (f *fixture) behind(meanwhile func()) {
	f.t.Helper()
	late := on(f.t, f.e, f.db, &halted{f.db.Another(f.t), sync.OnceFunc(meanwhile)}, job.Options{})
	_, err := late.source().Dispatch(f.ctx())
	f.check(err)
}

// D-82, D-83: a process that goes by the old schedule neither makes its runs nor
// moves the job.
func TestPutMeanwhile(t *testing.T) { dbtest.Each(t, testPutMeanwhile) }

func testPutMeanwhile(t *testing.T, e dbtest.Engine) {
	for what, change := range map[string]func(*job.Job){
		"schedule": func(j *job.Job) { j.Schedule = "30 4 1 * *" },
		"zone":     func(j *job.Job) { j.Zone = "Asia/Kolkata" },
	} {
		t.Run(what, func(t *testing.T) {
			f := open(t, e)
			jb := f.hourly()
			f.put(jb)
			f.asleep(time.Hour)
			change(&jb)
			f.behind(func() { f.put(jb) })
			f.statuses(name)
			if got := f.get(name); !got.NextRunAt.Equal(first(t, jb.Schedule, jb.Zone, got.UpdatedAt)) {
				t.Fatalf("it is %+v", got)
			}
		})
	}
	t.Run("policy", func(t *testing.T) {
		f := open(t, e)
		jb := f.hourly()
		jb.Misfire = job.RunAll
		f.put(jb)
		f.asleep(5 * time.Hour)
		jb.Misfire = job.RunOnce
		f.behind(func() { f.put(jb) })
		f.statuses(name)
		f.fire()
		f.statuses(name, job.Missed, job.Pending)
	})
	t.Run("payload", func(t *testing.T) {
		f := open(t, e)
		jb := f.hourly()
		f.put(jb)
		f.asleep(time.Hour)
		jb.Payload = []byte("more")
		f.behind(func() { f.put(jb) })
		f.fire()
		r := f.statuses(name, job.Pending)[0]
		if m, err := f.box.Get(t.Context(), r.ID); err != nil || string(m.Payload) != "more" {
			t.Fatalf("the run says %+v, %v", m, err)
		}
	})
}

// D-84, D-82
func TestDisableMeanwhile(t *testing.T) { dbtest.Each(t, testDisableMeanwhile) }

func testDisableMeanwhile(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.asleep(time.Hour)
	f.behind(func() { f.check(f.SetEnabled(t.Context(), name, false)) })
	f.statuses(name)
	if got := f.get(name); got.Enabled || !got.NextRunAt.IsZero() {
		t.Fatalf("it is %+v", got)
	}
	f.check(f.SetEnabled(t.Context(), name, true))
	f.asleep(time.Hour)
	f.behind(func() {
		f.check(f.SetEnabled(t.Context(), name, false))
		f.check(f.SetEnabled(t.Context(), name, true))
	})
	f.statuses(name)
}

// D-84, D-82
func TestDeleteMeanwhile(t *testing.T) { dbtest.Each(t, testDeleteMeanwhile) }

func testDeleteMeanwhile(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.asleep(time.Hour)
	f.behind(func() { f.check(f.Delete(t.Context(), name)) })
	f.statuses(name)
	f.nothing()
	f.put(f.hourly())
	f.asleep(time.Hour)
	f.behind(func() {
		f.check(f.Delete(t.Context(), name))
		f.put(f.hourly())
	})
	f.statuses(name)
}

// D-82: a time that had its run has no second one, even if a job is set back.
func TestRecordInTheWay(t *testing.T) { dbtest.Each(t, testRecordInTheWay) }

func testRecordInTheWay(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	r := f.made()
	runs := f.db.Table("job_run")
	f.set(name, "next_time = (SELECT scheduled_time FROM "+runs+"), due_at = (SELECT scheduled_time FROM "+runs+")")
	if n := f.fire(); n != 1 {
		t.Fatalf("%d were due", n)
	}
	if again := f.statuses(name, job.Pending)[0]; again.ID != r.ID {
		t.Fatalf("made %+v after %+v", again, r)
	}
	f.take(1)
	if got := f.get(name); !got.NextRunAt.After(r.ScheduledAt) || got.LastRunID != r.ID {
		t.Fatalf("it is %+v", got)
	}
}

// D-82, D-84, D-85: five processes that store, trigger, switch, delete, fire and
// handle at once: nothing fails, and what is left is whole.
func TestEverythingAtOnce(t *testing.T) { dbtest.Each(t, testEverythingAtOnce) }

func testEverythingAtOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.together(func(i int, f *fixture) {
		for round := range 12 {
			if err := f.something(i + round); err != nil && !errors.Is(err, job.ErrNotFound) {
				t.Error(err)
			}
		}
	})
	f.put(f.hourly())
	f.check(f.SetEnabled(t.Context(), name, true))
	f.drain("make", done)
	r := f.made()
	seen := map[time.Time]bool{}
	for _, r := range f.runs(name) {
		if r.Status == job.Unknown || r.Status == job.Running || !r.Triggered && r.Status == job.Missed && r.Missed == 0 || seen[r.ScheduledAt] && !r.Triggered {
			t.Errorf("left %+v", r)
		}
	}
	if r.Status != job.Pending {
		t.Errorf("made %+v", r)
	}
}

// something is one of what programs do with jobs.
func (f *fixture) something(i int) error {
	switch i % 7 {
	case 0:
		jb := f.hourly()
		jb.Payload = []byte{byte(i)}
		return f.Put(f.ctx(), jb)
	case 1, 2:
		_, err := f.Trigger(f.ctx(), name)
		return err
	case 3:
		return errors.Join(f.SetEnabled(f.ctx(), name, false), f.SetEnabled(f.ctx(), name, true))
	case 4:
		if err := f.Delete(f.ctx(), name); err != nil {
			return err
		}
		return f.Put(f.ctx(), f.hourly())
	case 5:
		_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("job")+" SET due_at = next_time, version = version + 1 WHERE enabled = "+f.db.Bool(true))
		if err == nil {
			_, err = f.source().Dispatch(f.ctx())
		}
		return err
	default:
		f.byHand(func(job.RunID) {})
		_, err := f.CleanUp(f.ctx())
		return err
	}
}
