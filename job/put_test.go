package job_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

func full() job.Job {
	return job.Job{
		Name: name, Schedule: "*/10 9-17 * * MON-FRI", Zone: "Europe/Berlin", Topic: "make", Payload: []byte(`{"days":90}`),
		Headers: map[string]string{"tenant": "7"}, Queue: "slow", Priority: -3,
		Misfire: job.RunAll, MisfireLimit: 5, Overlap: job.Skip, Spread: time.Minute,
	}
}

// D-83
func TestPutAll(t *testing.T) { dbtest.Each(t, testPutAll) }

func testPutAll(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	want := full()
	f.put(want)
	got := f.get(name)
	if got.Name != want.Name || got.Schedule != want.Schedule || got.Zone != want.Zone || got.Topic != want.Topic || string(got.Payload) != string(want.Payload) ||
		len(got.Headers) != 1 || got.Headers["tenant"] != "7" || got.Queue != want.Queue || got.Priority != want.Priority ||
		got.Misfire != want.Misfire || got.MisfireLimit != want.MisfireLimit || got.Overlap != want.Overlap || got.Spread != want.Spread {
		t.Fatalf("stored %+v", got.Job)
	}
	if !got.Enabled || !got.LastRunID.IsZero() || !got.LastRunAt.IsZero() || got.LastRunStatus != "" || got.LastError != "" {
		t.Fatalf("its state is %+v", got)
	}
	if next := times(t, want.Schedule, want.Zone, got.NextRunAt, got.NextRunAt); got.CreatedAt.IsZero() || got.UpdatedAt.Before(got.CreatedAt) || len(next) != 1 {
		t.Fatalf("its times are %+v", got)
	}
	if want := first(t, want.Schedule, want.Zone, got.CreatedAt); !got.NextRunAt.Equal(want) {
		t.Fatalf("next at %v, want %v", got.NextRunAt, want)
	}
	if want.Headers[job.HeaderJob] != "" {
		t.Fatal("the caller's map was changed")
	}
}

// first is the first time after another.
func first(t testing.TB, schedule, zone string, after time.Time) time.Time {
	t.Helper()
	_, all, err := job.Explain(schedule, zone, after, 1)
	if err != nil {
		t.Fatal(err)
	}
	return all[0].UTC()
}

// D-80
func TestPutDefaults(t *testing.T) { dbtest.Each(t, testPutDefaults) }

func testPutDefaults(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(job.Job{Name: name, Schedule: "@daily", Topic: "make"})
	got := f.get(name)
	if got.Zone != "UTC" || got.Queue != "default" || got.Priority != 0 || len(got.Headers) != 0 || len(got.Payload) != 0 ||
		got.Misfire != job.RunOnce || got.MisfireLimit != 10 || got.Overlap != job.Allow || got.Spread != 0 {
		t.Fatalf("stored %+v", got.Job)
	}
}

// nothing insists on no job being stored.
func (f *fixture) nothing() {
	f.t.Helper()
	if all, err := engine.Collect(f.List(f.ctx(), job.ListOptions{}), 100); err != nil || len(all) != 0 {
		f.t.Fatalf("stored %v, %v", all, err)
	}
}

// D-85, D-676: what is refused is not stored, and Validate refuses it before.
func TestPutInvalid(t *testing.T) { dbtest.Each(t, testPutInvalid) }

func testPutInvalid(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for field, change := range map[string]func(*job.Job){
		"name":            func(j *job.Job) { j.Name = "" },
		"name blank":      func(j *job.Job) { j.Name = " \t" },
		"name null":       func(j *job.Job) { j.Name = "a\x00b" },
		"name bytes":      func(j *job.Job) { j.Name = "\xff" },
		"name long":       func(j *job.Job) { j.Name = strings.Repeat("é", limits.JobName+1) },
		"topic":           func(j *job.Job) { j.Topic = "" },
		"topic long":      func(j *job.Job) { j.Topic = strings.Repeat("t", 256) },
		"payload":         func(j *job.Job) { j.Payload = make([]byte, 1<<20+1) },
		"headers":         func(j *job.Job) { j.Headers = map[string]string{"a": strings.Repeat("h", 17<<10)} },
		"queue":           func(j *job.Job) { j.Queue = strings.Repeat("q", 256) },
		"priority":        func(j *job.Job) { j.Priority = 101 },
		"misfire policy":  func(j *job.Job) { j.Misfire = "twice" },
		"misfire policy ": func(j *job.Job) { j.Misfire = "Once" },
		"misfire limit":   func(j *job.Job) { j.MisfireLimit = -1 },
		"misfire limit ":  func(j *job.Job) { j.MisfireLimit = limits.Misfires + 1 },
		"overlap policy":  func(j *job.Job) { j.Overlap = "queue" },
		"overlap policy ": func(j *job.Job) { j.Overlap = " " },
		"headers ":        func(j *job.Job) { j.Headers = map[string]string{expiry.Header: "x"} },
		"zone":            func(j *job.Job) { j.Zone = "Local" },
		"spread":          func(j *job.Job) { j.Spread = -1 },
		"spread ":         func(j *job.Job) { j.Spread = limits.Spread + 1 },
	} {
		jb := f.hourly()
		change(&jb)
		err := f.Put(t.Context(), jb)
		var invalid *engine.InvalidError
		if !errors.Is(err, engine.ErrInvalid) || !errors.As(err, &invalid) || !strings.HasPrefix(field, invalid.Field()) {
			t.Errorf("%s: got %v", field, err)
		}
		if early := jb.Validate(); early == nil || early.Error() != err.Error() {
			t.Errorf("%s: Validate: %v, Put: %v", field, early, err)
		}
	}
	f.nothing()
}

// D-80, D-85: schedules that cannot be read, never fire or are too long, and zones
// that nobody knows.
func TestPutSchedules(t *testing.T) { dbtest.Each(t, testPutSchedules) }

func testPutSchedules(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, c := range []struct {
		schedule, zone, field string
		syntax                bool
	}{
		{"", "", "schedule", true},
		{"* * * *", "", "schedule", true},
		{"61 * * * *", "", "schedule", true},
		{"0 0 30 2 *", "", "schedule", true},
		{"TZ=UTC * * * * *", "", "schedule", true},
		{"*/90 * * * *", "", "schedule", true},
		{"0 0 * * ?", "", "schedule", true},
		{"@every 0.5s", "", "schedule", true},
		{"@reboot", "", "schedule", true},
		{"\x00 * * * *", "", "schedule", true},
		{"0 " + strings.Repeat("0,", limits.Schedule/2) + "0 * * *", "", "schedule", true},
		{"@daily", "Local", "zone", false},
		{"@daily", "Mars/Olympus", "zone", false},
		{"@daily", "../etc/passwd", "zone", false},
		{"@daily", " ", "zone", false},
		{"@daily", "\x00", "zone", false},
		{"@daily", "europe/berlin\n", "zone", false},
	} {
		jb := f.hourly()
		jb.Schedule, jb.Zone = c.schedule, c.zone
		err := f.Put(t.Context(), jb)
		var fault pawl.InvalidError
		var syntax *cron.ParseError
		if !errors.Is(err, engine.ErrInvalid) || !errors.As(err, &fault) || fault.Field() != c.field || errors.As(err, &syntax) != c.syntax {
			t.Errorf("%q in %q: got %v", c.schedule, c.zone, err)
		}
	}
	f.nothing()
}

// row is everything stored of a job.
func (f *fixture) row(name string) string {
	f.t.Helper()
	var version int64
	var next, due, updated string
	f.db.Row(f.t, "SELECT version, cast(next_time AS text), cast(due_at AS text), cast(updated_at AS text) FROM "+f.db.Table("job")+" WHERE name = '"+name+"'", &version, &next, &due, &updated)
	return strings.Join([]string{next, due, updated, strings.Repeat("v", int(version))}, " ")
}

// D-83: storing the same again writes nothing.
func TestPutSame(t *testing.T) { dbtest.Each(t, testPutSame) }

func testPutSame(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, jb := range []job.Job{full(), f.hourly(), {Name: name, Schedule: "@every 7s", Topic: "make"}} {
		f.put(jb)
		before := f.row(name)
		f.db.Pass(20 * time.Millisecond)
		f.put(jb, jb)
		f.check(f.another().Put(t.Context(), jb))
		if after := f.row(name); after != before {
			t.Fatalf("from %s to %s", before, after)
		}
		jb.Zone = strings.ReplaceAll(jb.Zone, "UTC", "")
		f.put(jb)
		if after := f.row(name); after != before {
			t.Fatalf("from %s to %s", before, after)
		}
		f.check(f.Delete(t.Context(), name))
	}
}

// D-83: what does not change the schedule does not move the next run, but is
// stored.
func TestPutChange(t *testing.T) { dbtest.Each(t, testPutChange) }

func testPutChange(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := full()
	jb.Spread = 0
	f.put(jb)
	for what, change := range map[string]func(*job.Job){
		"topic":    func(j *job.Job) { j.Topic = "other" },
		"payload":  func(j *job.Job) { j.Payload = []byte("other") },
		"headers":  func(j *job.Job) { j.Headers = map[string]string{"tenant": "8"} },
		"queue":    func(j *job.Job) { j.Queue = "fast" },
		"priority": func(j *job.Job) { j.Priority = 4 },
		"misfire":  func(j *job.Job) { j.Misfire = job.RunNone },
		"limit":    func(j *job.Job) { j.MisfireLimit = 6 },
		"overlap":  func(j *job.Job) { j.Overlap = job.Allow },
	} {
		f.set(name, "next_time = "+f.ago(time.Hour))
		f.set(name, "due_at = next_time")
		before, row := f.get(name), f.row(name)
		f.db.Pass(5 * time.Millisecond)
		change(&jb)
		f.put(jb)
		after := f.get(name)
		if f.row(name) == row || !after.UpdatedAt.After(before.UpdatedAt) || !after.CreatedAt.Equal(before.CreatedAt) {
			t.Errorf("%s: not stored", what)
		}
		if !after.NextRunAt.Equal(before.NextRunAt) || f.dueAt(name) != after.NextRunAt {
			t.Errorf("%s: the next run went from %v to %v", what, before.NextRunAt, after.NextRunAt)
		}
	}
	got := f.get(name)
	if got.Topic != "other" || string(got.Payload) != "other" || got.Headers["tenant"] != "8" || got.Queue != "fast" || got.Priority != 4 ||
		got.Misfire != job.RunNone || got.MisfireLimit != 6 || got.Overlap != job.Allow {
		t.Fatalf("stored %+v", got.Job)
	}
}

// dueAt is when a job is due.
func (f *fixture) dueAt(name string) time.Time {
	f.t.Helper()
	query := "SELECT due_at FROM " + f.db.Table("job") + " WHERE name = '" + name + "'"
	if f.e.Name == "sqlite" {
		var micros int64
		f.db.Row(f.t, query, &micros)
		return time.UnixMicro(micros).UTC()
	}
	var at time.Time
	f.db.Row(f.t, query, &at)
	return at.UTC()
}

// D-83: another schedule, or another zone, makes the next run anew, also of an
// overdue job.
func TestPutSchedule(t *testing.T) { dbtest.Each(t, testPutSchedule) }

func testPutSchedule(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	f.put(jb)
	for _, c := range [][2]string{{"30 4 * * *", ""}, {"30 4 * * *", "Asia/Tokyo"}, {"30 4 * * 0-6", "Asia/Tokyo"}, {"@every 3h", ""}} {
		f.set(name, "next_time = "+f.ago(time.Hour)+", due_at = "+f.ago(time.Hour))
		jb.Schedule, jb.Zone = c[0], c[1]
		f.put(jb)
		got := f.get(name)
		want := first(t, c[0], c[1], got.UpdatedAt)
		if off := want.Sub(got.NextRunAt); off < 0 || off > 10*time.Second || c[0] != "@every 3h" && off != 0 || f.dueAt(name) != got.NextRunAt {
			t.Errorf("%v: next at %v, want %v", c, got.NextRunAt, want)
		}
	}
	if n := f.fire(); n != 0 {
		t.Fatalf("%d were due", n)
	}
}

// D-83: another spread moves when the run is made, not its nominal time.
func TestPutSpread(t *testing.T) { dbtest.Each(t, testPutSpread) }

func testPutSpread(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	f.put(jb)
	next := f.get(name).NextRunAt
	for _, spread := range []time.Duration{time.Hour, 24 * time.Hour, time.Second, 0} {
		jb.Spread = spread
		f.put(jb)
		late := f.dueAt(name).Sub(next)
		if got := f.get(name).NextRunAt; !got.Equal(next) || late < 0 || late > spread || spread > time.Second && late == 0 {
			t.Fatalf("spread %v: next at %v, want %v, due %v later", spread, got, next, late)
		}
	}
}

// D-83: the run that is due is made after the job was stored again, as it was or
// with another payload.
func TestPutOverdue(t *testing.T) { dbtest.Each(t, testPutOverdue) }

func testPutOverdue(t *testing.T, e dbtest.Engine) {
	for what, payload := range map[string]string{"unchanged": "all of it", "another payload": "more"} {
		t.Run(what, func(t *testing.T) {
			f := open(t, e)
			jb := f.hourly()
			f.put(jb)
			next := f.get(name).NextRunAt
			f.asleep(time.Hour)
			if e.Name != "sqlite" {
				next = next.Add(-time.Hour)
			}
			jb.Payload = []byte(payload)
			f.put(jb)
			f.fire()
			if r := f.statuses(name, job.Pending)[0]; !r.ScheduledAt.Equal(next) {
				t.Fatalf("run for %v, want %v", r.ScheduledAt, next)
			}
			f.drain("make", func(_ context.Context, m *outbox.Message) error {
				if string(m.Payload) != payload {
					t.Errorf("the payload is %q", m.Payload)
				}
				return nil
			})
		})
	}
}

// D-83: a program that stores its jobs at each start, and starts more often than
// they fire, starves none.
func TestPutAtStart(t *testing.T) { dbtest.Each(t, testPutAtStart) }

func testPutAtStart(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	next := f.get(name).NextRunAt
	for range 12 {
		f.asleep(15 * time.Minute)
		if e.Name != "sqlite" {
			continue // moving the job's times is no period of its schedule
		}
		again := f.another()
		again.put(f.hourly())
		again.fire()
	}
	if e.Name != "sqlite" {
		f.put(f.hourly())
		f.fire()
		f.statuses(name, job.Missed, job.Pending)
		return
	}
	for i, r := range f.statuses(name, job.Pending, job.Pending, job.Pending) {
		if want := next.Add(time.Duration(i) * time.Hour); !r.ScheduledAt.Equal(want) {
			t.Errorf("run for %v, want %v", r.ScheduledAt, want)
		}
	}
}

// D-84: storing a job does not switch it on.
func TestPutDisabled(t *testing.T) { dbtest.Each(t, testPutDisabled) }

func testPutDisabled(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	f.put(jb)
	f.check(f.SetEnabled(t.Context(), name, false))
	f.put(jb)
	jb.Schedule = "* * * * *"
	jb.Spread = time.Second
	f.put(jb)
	if got := f.get(name); got.Enabled || !got.NextRunAt.IsZero() || got.Schedule != jb.Schedule {
		t.Fatalf("it is %+v", got)
	}
	f.asleep(time.Hour)
	if n := f.fire(); n != 0 {
		t.Fatal("a disabled job was due")
	}
	f.check(f.SetEnabled(t.Context(), name, true))
	if got := f.get(name); !got.Enabled || got.NextRunAt.IsZero() || f.dueAt(name).Before(got.NextRunAt) {
		t.Fatalf("enabled it is %+v", got)
	}
}

// D-85: a refused change leaves the job as it was.
func TestPutRefused(t *testing.T) { dbtest.Each(t, testPutRefused) }

func testPutRefused(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	before := f.row(name)
	for _, change := range []func(*job.Job){
		func(j *job.Job) { j.Schedule = "0 0 31 4 *" },
		func(j *job.Job) { j.Zone = "Local" },
		func(j *job.Job) { j.Topic = "" },
	} {
		jb := f.hourly()
		change(&jb)
		if err := f.Put(t.Context(), jb); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
	if after := f.row(name); after != before {
		t.Fatalf("from %s to %s", before, after)
	}
}

// D-2: names are told apart exactly, payloads are bytes.
func TestPutBytes(t *testing.T) { dbtest.Each(t, testPutBytes) }

func testPutBytes(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for i, n := range []string{"report", "Report", "a'b\"c%; --", strings.Repeat("é", limits.JobName), "naïve"} {
		jb := f.hourly()
		jb.Name, jb.Payload = n, []byte{byte(i), 0, 0xff}
		f.put(jb, jb)
		if got := f.get(n); string(got.Payload) != string(jb.Payload) {
			t.Errorf("%q: the payload is %x", n, got.Payload)
		}
	}
	if all, err := engine.Collect(f.List(t.Context(), job.ListOptions{}), 100); err != nil || len(all) != 5 {
		t.Fatalf("%d jobs, %v", len(all), err)
	}
}

// reserving counts how many positions are reserved.
type reserving struct {
	engine.DB
	n int
}

func (r *reserving) ReserveIDs(ctx context.Context, tx engine.Tx, n int) (int64, error) {
	r.n += n
	return r.DB.ReserveIDs(ctx, tx, n)
}

// A job that is stored, at every start of a program for instance, uses up no position of messages.
func TestPutReservesNothing(t *testing.T) { dbtest.Each(t, testPutReservesNothing) }

func testPutReservesNothing(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	db := &reserving{DB: f.db.DB}
	other := on(t, e, f.db, db, job.Options{})
	for range 3 {
		other.put(full())
	}
	if db.n != 0 {
		t.Errorf("%d positions were reserved", db.n)
	}
	if _, err := other.Trigger(f.ctx(), name); err != nil || db.n != 1 {
		t.Errorf("a run reserved %d positions: %v", db.n, err)
	}
}
