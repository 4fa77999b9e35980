package job_test

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
)

// Whatever the schedule and the zone, Put answers at once, and stores nothing that
// cannot be followed: what it stored is as it was given, is found again, and fires.
//
// D-80, D-85
func FuzzPut(f *testing.F) {
	for _, c := range [][2]string{
		{"* * * * *", ""}, {"30 2 * * *", "Europe/Berlin"}, {"0 0 29 2 */7", "UTC"}, {"@every 90s", "Asia/Tokyo"}, {"@every 2562047h47m16.854775807s", ""},
		{"@daily", "Local"}, {"TZ=UTC * * * * *", ""}, {"0 0 30 2 *", ""}, {"0 0 L-3,15W,LW * 5#3,FRIL", "Africa/Cairo"}, {"\xff", "\xff"}, {"* * * * *", "../../etc/passwd"},
		{"@daily", "Europe"}, {"@daily", "/etc/localtime"}, {"@daily", "\x00"}, {", * * * *", "EST5EDT"}, {"1-2-3 * * * *", "Etc/GMT+12"}, {"@EVERY 1s", "utc"},
		{"\t* * * * *\n", "UTC"}, {"@every 1ns", ""}, {"@every 1.0000001s", ""}, {"* 2 31 3 *", "Europe/Berlin"},
	} {
		f.Add(c[0], c[1])
	}
	db := dbtest.OpenSQLite(f)
	jobs := parts.NewJobs(db, parts.NewOutbox(db, worker.Options{}), job.Options{}, nil)
	f.Fuzz(func(t *testing.T, schedule, zone string) {
		start := time.Now()
		err := jobs.Put(t.Context(), job.Job{Name: "fuzzed", Topic: "make", Schedule: schedule, Zone: zone})
		if took := time.Since(start); took > 10*time.Second { // of which the database may take some
			t.Fatalf("took %v", took)
		}
		info, gone := jobs.Get(t.Context(), "fuzzed")
		if err != nil {
			refused(t, schedule, zone, err)
			if !errors.Is(gone, job.ErrNotFound) {
				t.Fatalf("stored all the same: %+v, %v", info, gone)
			}
			return
		}
		if gone != nil || info.Schedule != schedule || info.Zone != zone && (zone != "" || info.Zone != "UTC") || !utf8.ValidString(info.Schedule+info.Zone) {
			t.Fatalf("stored %q in %q as %+v, %v", schedule, zone, info, gone)
		}
		if len(schedule) > limits.Schedule || !info.NextRunAt.After(start.Add(-time.Second)) {
			t.Fatalf("next at %v", info.NextRunAt)
		}
		followed(t, db, jobs, info)
		if err := jobs.Delete(t.Context(), "fuzzed"); err != nil {
			t.Fatal(err)
		}
	})
}

// refused insists on a reason that says whose fault it is.
func refused(t *testing.T, schedule, zone string, err error) {
	t.Helper()
	var fault pawl.InvalidError
	var syntax *cron.ParseError
	if !errors.As(err, &fault) || !errors.Is(err, engine.ErrInvalid) || fault.Error() == "" {
		t.Fatalf("refused with %v", err)
	}
	if _, parse := cron.Parse(schedule); (parse != nil) != errors.As(err, &syntax) {
		t.Fatalf("refused with %v, cron says %v", err, parse)
	}
	if _, _, explain := job.Explain(schedule, zone, time.Now(), 1); explain == nil {
		t.Fatalf("refused with %v, but explained", err)
	}
}

// followed insists on a stored job going on when it is due.
func followed(t *testing.T, db dbtest.Database, jobs *parts.Jobs, info *job.Info) {
	t.Helper()
	next, err := jobs.Next(t.Context(), "fuzzed", 2)
	if err != nil || len(next) == 0 || !next[0].Equal(info.NextRunAt) {
		t.Fatalf("next are %v, %v", next, err)
	}
	past := time.Now().Add(-time.Minute).UnixMicro()
	if _, err := db.SQL.ExecContext(t.Context(), "UPDATE job SET next_time = $1, due_at = $1", past); err != nil {
		t.Fatal(err)
	}
	if n, err := jobs.Sources[0].Dispatch(t.Context()); err != nil || n != 1 {
		t.Fatalf("dealt with %d, %v", n, err)
	}
	after, err := jobs.Get(t.Context(), "fuzzed")
	if err != nil || after.LastError != "" || after.LastRunID.IsZero() {
		t.Fatalf("it is %+v, %v", after, err)
	}
}
