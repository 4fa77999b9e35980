package job_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
)

// never is longer than any test: schedulers that look this seldom sleep from due
// time to due time.
const never = 100 * 365 * 24 * time.Hour

// simulation is schedulers in processes of their own, on one SQLite file, under a
// fake clock that is also the database's (D-1): years pass in moments.
type simulation struct {
	t     *testing.T
	path  string
	first *parts.Jobs
	procs []*process
}

type process struct {
	db   *sqlite.DB
	jobs *parts.Jobs
}

// simulate runs jobs for so long in so many processes, and insists on exactly the
// runs that cron says.
func simulate(t *testing.T, processes int, d time.Duration, jobs []job.Job) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{t: t, path: path}
		defer s.close()
		for range processes {
			s.open()
		}
		start := time.Now()
		for _, jb := range jobs {
			if err := s.first.Put(t.Context(), jb); err != nil {
				t.Fatal(err)
			}
		}
		s.work(d + 42*time.Second) // what is due in the very moment of the end may or may not be done
		for _, jb := range jobs {
			s.exactly(jb, start, time.Now())
		}
	})
}

func (s *simulation) open() {
	s.t.Helper()
	// What a power failure would do is of no interest here, what commits see is.
	db, err := sqlite.Open(s.path, sqlite.Options{WatchEvery: never, Relaxed: true})
	if err != nil {
		s.t.Fatal(err)
	}
	jobs := parts.NewJobs(db, parts.NewOutbox(db, worker.Options{}), job.Options{}, nil)
	if s.procs = append(s.procs, &process{db, jobs}); len(s.procs) == 1 {
		dbtest.Migrate(s.t, db)
		s.first = jobs
	}
}

func (s *simulation) close() {
	for _, p := range s.procs {
		_ = p.db.Close()
	}
}

// work runs all schedulers for so long. Clean-up is left out: it would wake them
// every ten minutes.
func (s *simulation) work(d time.Duration) {
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	var wg sync.WaitGroup
	for _, p := range s.procs {
		scheduler := worker.NewScheduler(worker.ScheduleConfig{DB: p.db, Sources: p.jobs.Sources, Logger: engine.Logger(nil), MaxPollingInterval: never})
		wg.Go(func() { _ = scheduler.Run(ctx) })
	}
	time.Sleep(d)
	synctest.Wait()
	stop()
	wg.Wait()
}

// history returns when a job ran, all of it.
func (s *simulation) history(name string) []*job.Run {
	s.t.Helper()
	var all []*job.Run
	for run, err := range s.first.Runs(s.t.Context(), name, job.RunsOptions{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, &run)
	}
	slices.Reverse(all)
	return all
}

// exactly insists on one run for each time that cron enumerates, at that time.
func (s *simulation) exactly(jb job.Job, start, end time.Time) {
	s.t.Helper()
	want := enumerated(s.t, jb, start, end)
	got := s.history(jb.Name)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			s.t.Fatalf("%s: %d runs, want %d: none for %v", jb.Name, len(got), len(want), want[i])
		case i >= len(want):
			s.t.Fatalf("%s: %d runs, want %d: one for %v", jb.Name, len(got), len(want), got[i].ScheduledAt)
		case !got[i].ScheduledAt.Equal(want[i]) || got[i].Status != job.Pending:
			s.t.Fatalf("%s: run %+v, want one for %v", jb.Name, got[i], want[i])
		}
		if late := got[i].CreatedAt.Sub(want[i]); late < 0 || late > time.Minute && jb.Spread == 0 || late > jb.Spread+time.Minute {
			s.t.Fatalf("%s: the run for %v was made %v later", jb.Name, want[i], late)
		}
	}
	if len(want) == 0 {
		s.t.Fatalf("%s: nothing to see", jb.Name)
	}
}

// enumerated is what cron says. What a spread puts off beyond the end is left out.
func enumerated(t *testing.T, jb job.Job, start, end time.Time) (all []time.Time) {
	t.Helper()
	schedule, err := cron.Parse(jb.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation(jb.Zone)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := schedule.Next(start, zone)
	for ; ok && !at.After(end); at, ok = schedule.Next(at, zone) {
		if jb.Schedule[0] == '@' {
			at = at.Truncate(time.Microsecond) // as it is stored
		}
		all = append(all, at)
	}
	return all
}

func scheduled(zone string, schedules ...string) (all []job.Job) {
	for _, s := range schedules {
		all = append(all, job.Job{Name: fmt.Sprintf("%s in %s", s, zone), Topic: "make", Schedule: s, Zone: zone})
	}
	return all
}

// dense reports whether there is time for all of it.
func dense() bool { return os.Getenv("PAWL_LONG") != "" }

// D-82, D-81: five schedulers over ten years make exactly one run per nominal
// time, over all changes of the clocks and all leap days. Clocks change at week-ends
// in most zones, in Cairo on Thursdays and Fridays.
func TestTenYears(t *testing.T) {
	t.Parallel()
	jobs := slices.Concat(
		scheduled("America/New_York", "30 2 * 3,4,10,11 SUN"),
		scheduled("Europe/Berlin", "30 2 * 3,10 SUN", "0 0 L 2,3 *"),
		scheduled("Australia/Lord_Howe", "15 2 * 3,10 SUN"),
		scheduled("America/Santiago", "0 0 * 3,10 SUN"),
		scheduled("Africa/Cairo", "0 0 * 4,9 FRI"),
		scheduled("", "0 12 29 2 *", "@every 5000h", "@yearly", "0 */12 1 1 *"),
	)
	jobs[2].Spread = time.Hour
	if dense() {
		for _, zone := range []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", ""} {
			jobs = append(jobs, scheduled(zone, "30 1 * * *", "30 2 * * *", "0 0 * * *", "0 * * * *")...)
		}
	}
	simulate(t, 5, 10*365*24*time.Hour, jobs)
}

// D-81, D-80: a year (2000, by the fake clock) of jobs whose times are about when
// clocks change. In each zone two follow the wall and one real time.
func TestYearOfChanges(t *testing.T) {
	t.Parallel()
	var jobs []job.Job
	for zone, days := range map[string]string{
		"America/New_York":    "1-3,28-30 4,10",
		"Europe/Berlin":       "25-30 3,10",
		"Australia/Lord_Howe": "25-28 3,8",
		"America/Santiago":    "11-16 3,10",
		"Africa/Cairo":        "27-30 4,9",
	} {
		jobs = append(jobs, scheduled(zone, "15 0,2 "+days+" *", "*/30 0-2 "+days+" *", "45 23,1 "+days+" *")...)
	}
	jobs = append(jobs, scheduled("", "0 0 29 2 *")...)
	simulate(t, 2, 366*24*time.Hour, jobs)
}
