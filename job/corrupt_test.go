package job_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// corruptions are what can be wrong with a row so that it cannot be followed.
func corruptions(e dbtest.Engine) map[string]string {
	all := map[string]string{
		"garbage schedule": "schedule = 'every now and then'",
		"empty schedule":   "schedule = ''",
		"never fires":      "schedule = '0 0 30 2 *'",
		"unknown zone":     "zone = 'Mars/Olympus'",
		"local zone":       "zone = 'Local'",
		"empty topic":      "topic = ''",
		"unknown lane":     "lane = 12345",
		"negative shift":   "shift = -9223372036854775808",
		"huge shift":       "shift = 9223372036854775807",
	}
	all["next time far away"] = "next_time = '9999-12-31'"
	switch e.Name {
	case "sqlite":
		all["next time far away"] = "next_time = 9223372036854775807"
	case "postgres":
		all["endless next time"] = "next_time = 'infinity'"
		all["beginless next time"] = "next_time = '-infinity'"
	}
	return all
}

// D-85: of jobs that are due together the healthy ones run; the broken ones say
// why, are tried again a minute later, and are repaired by storing them again.
func TestCorrupt(t *testing.T) { dbtest.Each(t, testCorrupt) }

func testCorrupt(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jobs := map[string]job.Job{}
	for n := range corruptions(e) {
		jb := f.hourly()
		jb.Name = n
		jobs[n] = jb
	}
	for i := range 5 {
		jb := f.hourly()
		jb.Name = fmt.Sprintf("healthy %d", i)
		jobs[jb.Name] = jb
	}
	for _, jb := range jobs {
		f.put(jb)
	}
	f.asleep(time.Hour)
	for n, change := range corruptions(e) {
		f.set(n, change)
	}
	f.fire()
	for n := range jobs {
		if strings.HasPrefix(n, "healthy") {
			f.statuses(n, job.Pending)
		} else {
			f.broken(n)
		}
	}
	for n, jb := range jobs {
		jb.Payload = []byte("repaired")
		if strings.HasSuffix(n, " next time") || n == "next time far away" {
			jb.Zone = "Europe/Berlin" // what it says of itself is not wrong: it has to begin anew
		}
		f.put(jb)
	}
	f.asleep(2 * time.Hour)
	f.fire()
	for n := range jobs {
		if runs, info := f.runs(n), f.get(n); info.LastError != "" || len(runs) == 0 || runs[len(runs)-1].Status != job.Pending {
			t.Errorf("%s is not repaired: %+v, its runs are %v", n, info, runs)
		}
	}
}

// broken insists on a job having made nothing and waiting for a minute.
func (f *fixture) broken(name string) {
	f.t.Helper()
	if runs := f.runs(name); len(runs) > 0 {
		f.t.Errorf("%s: made %+v", name, runs[0])
		return
	}
	if info := f.get(name); info.LastError == "" {
		f.t.Errorf("%s: it is %+v", name, info)
	}
	if wait := f.dueAt(name).Sub(f.now()); wait > time.Minute || wait <= 0 {
		f.t.Errorf("%s: looked at again in %v", name, wait)
	}
}

// D-800: a job that was stored without times, as by SQL's job_put, gets its next one, and no run
// for those before; the next one counts from the database's clock.
func TestPlan(t *testing.T) { dbtest.Each(t, testPlan) }

func testPlan(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Spread = time.Minute
	f.put(jb)
	want, due := f.get(name), f.dueAt(name)
	f.set(name, "next_time = NULL, last_error = 'x', due_at = "+f.ago(time.Hour))
	f.another().fire()
	f.fire()
	got := f.get(name)
	if !got.NextRunAt.Equal(want.NextRunAt) || !f.dueAt(name).Equal(due) || got.LastError != "" || len(f.runs(name)) != 0 {
		t.Errorf("got %+v, due %v, runs %v; want %+v, due %v", got, f.dueAt(name), f.runs(name), want, due)
	}
	for what, change := range map[string]string{"schedule": "schedule = 'x'", "never": "schedule = '0 0 30 2 *'", "zone": "zone = 'Mars/Olympus'"} {
		jb.Name = what
		f.put(jb)
		f.set(what, change+", next_time = NULL, due_at = "+f.ago(time.Hour))
		f.fire()
		f.broken(what)
	}
}

// D-85: nor do more of them than one look takes hold up the others, or bring a
// look about that has no end.
func TestCorruptMany(t *testing.T) { dbtest.Each(t, testCorruptMany) }

func testCorruptMany(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const broken = 150
	for i := range broken + 5 {
		jb := f.hourly()
		jb.Name = fmt.Sprintf("%03d", i)
		f.put(jb)
	}
	f.asleep(2 * time.Hour)
	f.exec("UPDATE " + f.db.Table("job") + " SET schedule = 'x', due_at = next_time WHERE name < '150'")
	f.exec("UPDATE " + f.db.Table("job") + " SET due_at = " + f.ago(time.Second) + " WHERE name >= '150'") // the last in line
	if n := f.fire(); n != broken+5 {
		t.Fatalf("dealt with %d", n)
	}
	for i := range 5 {
		n := fmt.Sprintf("%03d", broken+i)
		if runs := f.runs(n); len(runs) == 0 {
			t.Errorf("%s did not run", n)
		}
	}
	if d, ok, err := f.source().NextDue(t.Context()); err != nil || !ok || d <= 0 {
		t.Fatalf("next due in %v, %v, %v", d, ok, err)
	}
}

// D-85: a job whose run the database refuses does not keep its neighbours from
// theirs.
func TestCorruptTogether(t *testing.T) { dbtest.Each(t, testCorruptTogether) }

func testCorruptTogether(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, n := range []string{"a", "b", "c"} {
		jb := f.hourly()
		jb.Name = n
		f.put(jb)
	}
	f.refuse("b")
	f.asleep(time.Hour)
	f.fire()
	f.statuses("a", job.Pending)
	f.statuses("c", job.Pending)
	f.broken("b")
}

// refuse has the database refuse runs of a job.
func (f *fixture) refuse(name string) {
	f.t.Helper()
	table := f.db.Table("job_run")
	if f.e.Name == "sqlite" {
		f.exec("CREATE TRIGGER refuse BEFORE INSERT ON " + table + " WHEN new.job_name = '" + name + "' BEGIN SELECT raise(ABORT, 'no room'); END")
		return
	}
	f.exec("ALTER TABLE " + table + " ADD CHECK (job_name <> '" + name + "')")
}

// D-448: a job whose run the database has no room for is due still, and fires when there is room: it is
// not the job that is broken.
func TestNoRoom(t *testing.T) { dbtest.Each(t, testNoRoom) }

func testNoRoom(t *testing.T, e dbtest.Engine) {
	if e.Name == "sqlserver" {
		t.Skip("nothing fills its disk")
	}
	f := open(t, e)
	jb := f.hourly()
	jb.Payload = make([]byte, 64<<10) // more than pages have left
	f.put(jb)
	f.exec("UPDATE " + f.db.Table("job") + " SET next_time = " + f.db.Earlier("next_time", time.Hour) + ", due_at = " + f.db.Earlier("due_at", time.Hour))
	due := f.dueAt(jb.Name)
	full, giveRoom := f.full()
	if _, err := full.source().Dispatch(t.Context()); !engine.Unavailable(err) {
		t.Errorf("without room: %v", err)
	}
	if info, now := f.get(jb.Name), f.dueAt(jb.Name); !now.Equal(due) || info.LastError != "" {
		t.Errorf("it is due at %v, and was at %v: %+v", now, due, info)
	}
	giveRoom()
	f.fire()
	f.statuses(jb.Name, job.Pending)
}

// full is the same database without room for messages, until giveRoom is called.
func (f *fixture) full() (full *fixture, giveRoom func()) {
	f.t.Helper()
	if f.e.Name == "sqlite" { // a handle that does not let the file grow
		var path string
		f.db.Row(f.t, "SELECT file FROM pragma_database_list WHERE name = 'main'", &path)
		pool, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=max_page_count(1)")
		f.check(err)
		handle, err := sqlite.New(pool)
		f.check(err)
		f.t.Cleanup(func() { f.check(errors.Join(handle.Close(), pool.Close())) })
		return on(f.t, f.e, f.db, handle, job.Options{}), func() {}
	}
	table, refuse := f.db.Table("outbox_message"), f.db.Table("no_room")
	f.exec("CREATE FUNCTION " + refuse + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$")
	f.exec("CREATE TRIGGER no_room BEFORE INSERT ON " + table + " FOR EACH ROW EXECUTE FUNCTION " + refuse + "()")
	return f, func() { f.exec("DROP TRIGGER no_room ON " + table) }
}

// D-85: whatever numbers a row has, it does not take the scheduler down.
func TestCorruptNumbers(t *testing.T) { dbtest.Each(t, testCorruptNumbers) }

func testCorruptNumbers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var all []string
	for _, change := range []string{
		"misfire = 2, misfire_limit = -5", "misfire = 2, misfire_limit = 0", "misfire = 2, misfire_limit = 2147483647", "misfire = -1", "misfire = 9",
		"overlap = -1", "overlap = 7", "spread = -1", "spread = 9223372036854775807", "version = -9223372036854775808", "last_run = -1", "headers = 'x'", "headers = NULL",
	} {
		jb := f.hourly()
		jb.Name = strings.ReplaceAll(change, "'", "")
		f.put(jb)
		f.set(jb.Name, change)
		all = append(all, jb.Name)
	}
	f.asleep(3 * time.Hour)
	if n := f.fire(); n != int64(len(all)) {
		t.Fatalf("dealt with %d of %d", n, len(all))
	}
	for _, n := range all {
		info, runs := f.get(n), f.runs(n)
		if info.LastError == "" && len(runs) == 0 {
			t.Errorf("%s: neither run nor put off: %+v", n, info)
		}
	}
	if n := f.fire(); n != 0 {
		t.Fatalf("%d more", n)
	}
}

// D-85: nor whatever times it has. What is not due is left alone.
func TestCorruptTimes(t *testing.T) { dbtest.Each(t, testCorruptTimes) }

func testCorruptTimes(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	changes := []string{"due_at = NULL", "next_time = NULL, due_at = NULL", "enabled = " + map[bool]string{true: "0", false: "false"}[e.Name == "sqlserver"] + ", due_at = next_time"}
	switch e.Name {
	case "sqlite":
		changes = append(changes, "due_at = -9223372036854775808", "next_time = -9223372036854775808", "due_at = 9223372036854775807",
			"next_time = -9223372036854775808, due_at = -9223372036854775808", "next_time = 0")
	case "sqlserver":
		changes = append(changes, "due_at = '0001-01-01'", "due_at = '9999-12-31'", "next_time = '0001-01-01'", "next_time = '1970-01-01'", "next_time = '0001-01-01', due_at = '0001-01-01'")
	case "postgres":
		changes = append(changes, "due_at = '-infinity'", "due_at = 'infinity'", "next_time = '4713-01-01 BC'", "next_time = '0001-01-01'", "next_time = 'epoch'",
			"next_time = '-infinity', due_at = '-infinity'")
	}
	f.put(f.hourly())
	for _, change := range changes {
		jb := f.hourly()
		jb.Name = strings.ReplaceAll(change, "'", "")
		f.put(jb)
	}
	f.asleep(3 * time.Hour)
	for _, change := range changes {
		f.set(strings.ReplaceAll(change, "'", ""), change)
	}
	if _, _, err := f.source().NextDue(t.Context()); err != nil {
		t.Errorf("next due: %v", err)
	}
	f.fire()
	if n := f.fire(); n != 0 {
		t.Errorf("%d more", n)
	}
	if got := f.runs(name); len(got) != 2 || got[1].Status != job.Pending {
		t.Errorf("the healthy one has %v", got)
	}
	if all, err := engine.Collect(f.List(t.Context(), job.ListOptions{}), 100); err != nil || len(all) != len(changes)+1 {
		t.Errorf("listed %d, %v", len(all), err)
	}
}

// D-544: a fleet comes for a job whose time is far in the past, and for none that is due never, as a worker does.
func TestCorruptTimesOfAStore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		past, never := "'-infinity'", "'infinity'"
		switch e.Name {
		case "sqlite":
			past, never = "-9223372036854775808", "9223372036854775807"
		case "sqlserver":
			past, never = "'0001-01-01'", "'9999-12-31'"
		}
		f.put(f.hourly())
		for at, due := range map[string]bool{past: true, never: false} {
			f.set(name, "due_at = "+at)
			polled, _, err := engine.Get(t.Context(), f.db, op.FleetPoll{Queues: []string{outbox.DefaultQueue}})
			if err != nil || due != (polled.Micros != nil && *polled.Micros <= 0) {
				t.Errorf("%s: %v, %v", at, worker.Value(polled.Micros), err)
			}
			next, is, err := f.source().NextDue(t.Context())
			if err != nil || due != (is && next <= 0) {
				t.Errorf("%s: next due %v, %v, %v", at, next, is, err)
			}
			if waiting, err := engine.Query(t.Context(), f.db, op.HealthWaiting{}); err != nil || due != (len(waiting) == 1) {
				t.Errorf("%s: waiting %+v, %v", at, waiting, err)
			}
			if n, _, err := engine.Get(t.Context(), f.db, op.BacklogCounts{Most: 10}); err != nil || due != (n.JobsDue == 1) {
				t.Errorf("%s: counts %+v, %v", at, n, err)
			}
		}
	})
}
