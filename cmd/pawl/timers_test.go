package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// added schedules a timer and returns its id.
func (d *database) added(args ...string) string {
	d.t.Helper()
	return strings.TrimSpace(d.must("", append([]string{"timers", "add", "--topic", "t"}, args...)...))
}

// timersOf are the timers that "pawl timers ls" shows.
func (d *database) timersOf(args ...string) (views []view.Timer) {
	d.t.Helper()
	out := d.must("", append([]string{"timers", "ls", "--json"}, args...)...)
	if strings.Contains(out, "\x1b") {
		d.t.Errorf("%q", out)
	}
	for line := range strings.Lines(out) {
		var v view.Timer
		decode(d.t, line, &v)
		views = append(views, v)
	}
	return views
}

// What is due is handled by "pawl work", the runs of jobs as well as timers.
func TestWorkFiresTimersAndJobs(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		id := strings.TrimSpace(d.must("from stdin", "timers", "add", "--topic", "t", "--due", "0s", "--header", "a=b;c"))
		d.added("--due", "1h", "--data", "later")
		d.must("", "jobs", "put", "n", "--schedule", "0 0 1 1 *", "--topic", "t", "--data", "of a job")
		run := strings.TrimSpace(d.must("", "jobs", "run", "n"))
		got := lines(d.must("", "work", "--topic", "t", "--exec", `echo "$(cat) $PAWL_MESSAGE_ID $PAWL_HEADERS"`, "--drain"))
		slices.Sort(got)
		want := []string{"from stdin " + id + ` {"a":"b;c"}`, "of a job " + run + ` {"pawl-job":"n"}`}
		if !slices.Equal(got, want) {
			t.Errorf("worked on %q; want %q", got, want)
		}
		if fired := d.timersOf("--status", "fired"); len(fired) != 1 || fired[0].ID.String() != id || fired[0].EndedAt.IsZero() || fired[0].PayloadBytes != nil {
			t.Errorf("fired: %+v", fired)
		}
		if left := d.timersOf(); len(left) != 1 || *left[0].PayloadBytes != len("later") {
			t.Errorf("left: %+v", left)
		}
		var v job.Run
		decode(t, d.must("", "jobs", "runs", "n", "--json"), &v)
		if v.ID.String() != run || v.Status != "succeeded" || !v.Triggered || v.StartedAt.IsZero() || v.EndedAt.IsZero() {
			t.Errorf("run: %+v", v)
		}
	})
}

// A worker that waits fires what falls due meanwhile.
func TestWorkFiresWhileItRuns(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	d.must("", "jobs", "put", "n", "--schedule", "@every 1s", "--topic", "t")
	p := d.process("work", "--topic", "t", "--exec", "cat")
	id := d.added("--due", "1s", "--data", "x")
	eventually(t, "the timer to be handled", func() bool { return strings.Contains(d.must("", "ls", "--done", "--json"), id) })
	eventually(t, "a run to be made", func() bool { return strings.Contains(d.must("", "jobs", "runs", "n"), "succeeded") })
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK || !strings.Contains(p.stdout.String(), "x") {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
}

// D-8: a time before 1970 means now, also the year 1, which in Go is a forgotten one.
func TestTimersAddBefore1970(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	for _, at := range []string{"0001-01-01T00:00:00Z", "1960-01-01T00:00:00Z"} { // D-8: now
		var past struct {
			Due time.Time
		}
		decode(t, d.must("", "timers", "add", "--topic", "u", "--due", at, "--json"), &past)
		if time.Since(past.Due) > time.Hour {
			t.Errorf("--due %s: due at %v", at, past.Due)
		}
	}
}

func TestTimersAddAndList(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	if r := d.run("", "timers", "ls"); r.code != exitOK || r.stdout != "" || r.stderr != "no timers\n" {
		t.Errorf("none: %+v", r)
	}
	second := d.added("--due", "2131-01-31T12:00:00+01:00", "--data", "", "--key", "k\x1b[2J", "--correlation-id", "c", "--priority", "7", "--queue", "q")
	d.added("--due", "1h", "--data", "x")
	var last struct {
		TimerID outbox.MessageID `json:"timer_id"`
		Key     string
		Due     time.Time
	}
	decode(t, d.must("", "timers", "add", "--topic", "u", "--due", "2132-01-01T00:00:00Z", "--key", "k2", "--json"), &last)
	if last.Key != "k2" || last.Due.Year() != 2132 {
		t.Errorf("%+v", last)
	}
	all := d.timersOf()
	if len(all) != 3 || all[1].ID.String() != second || all[2].ID != last.TimerID {
		t.Fatalf("%+v", all)
	}
	if v := all[1]; v.Key != "k\x1b[2J" || !v.Due.Equal(time.Date(2131, 1, 31, 11, 0, 0, 0, time.UTC)) || v.CorrelationID != "c" || v.Priority != 7 || v.Queue != "q" || *v.PayloadBytes != 0 {
		t.Errorf("%+v", v)
	}
	r := d.run("", "timers", "ls", "--limit", "2")
	if !strings.Contains(r.stdout, `k\x1b[2J`) || !strings.Contains(r.stdout, "2131-01-31 11:00:00Z") || !strings.HasSuffix(r.stderr, "--after "+second+"\n") {
		t.Errorf("first page: %+v", r)
	}
	for _, c := range []struct {
		args []string
		want int
	}{{[]string{"--after", second}, 1}, {[]string{"--topic", "u"}, 1}, {[]string{"--status", "claimed"}, 0}} {
		if got := d.timersOf(c.args...); len(got) != c.want {
			t.Errorf("%q: want %d, got %+v", c.args, c.want, got)
		}
	}
	// Replaced by its key.
	d.added("--due", "2h", "--data", "", "--key", "k2")
	if got := d.timersOf("--status", "cancelled"); len(got) != 1 || got[0].ID != last.TimerID {
		t.Errorf("replaced: %+v", got)
	}
}

func TestTimersCancel(t *testing.T) {
	d := onSQLite(t)
	one, fired := d.added("--due", "1h", "--data", ""), d.added("--due", "0s", "--data", "")
	d.added("--due", "1h", "--data", "", "--key", "k")
	d.must("", "work", "--topic", "t", "--exec", "cat", "--drain", "--quiet")
	// Nothing is touched where one is no id.
	if r := d.run("", "timers", "cancel", one, "zz"); r.code != exitUsage || len(d.timersOf()) != 2 {
		t.Errorf("with a mistake: %+v", r)
	}
	const unknown = "6ba7b814-9dad-11d1-80b4-00c04fd430c8"
	r := d.run("", "timers", "cancel", unknown, fired, one, "--key", "k", "--key", "n\x1bone")
	want := fired + "  has fired\n" + one + "  cancelled\nkey \"k\"  cancelled\n"
	if r.code != exitFailure || r.stdout != want {
		t.Errorf("%+v; want %q", r, want)
	}
	if want := "pawl: timer not found: " + unknown + ` (or it was cleaned up), key "n\x1bone" (or it is over); too late to cancel: ` + fired + "\n"; r.stderr != want {
		t.Errorf("%q; want %q", r.stderr, want)
	}
	if out := d.must("", "timers", "cancel", one); out != one+"  was cancelled already\n" {
		t.Errorf("again: %q", out)
	}
	var v struct {
		TimerID   string `json:"timer_id"`
		Cancelled bool
		Status    string
	}
	decode(t, d.must("", "timers", "cancel", one, "--json"), &v)
	if v.TimerID != one || v.Cancelled || v.Status != "cancelled" {
		t.Errorf("%+v", v)
	}
	if r := d.run("", "timers", "ls", "--status", "cancelled", "--limit", "2"); !strings.Contains(r.stdout, "cancelled at 2") || !strings.Contains(r.stderr, "--after ") {
		t.Errorf("cancelled: %+v", r)
	}
}

// A timer that a program fires itself is out of reach.
func TestTimersCancelClaimed(t *testing.T) {
	d := onSQLite(t)
	id := d.added("--due", "0s", "--data", "", "--key", "k")
	d.opened(func(s *store) {
		if _, err := s.pawl().Timers.WorkQueue().Claim(t.Context(), outbox.OwnerToken{1}, time.Hour, 1); err != nil {
			t.Fatal(err)
		}
	})
	r := d.run("", "timers", "cancel", id, "--key", "k")
	if want := id + "  is being fired\nkey \"k\"  is being fired\n"; r.code != exitFailure || r.stdout != want || !strings.Contains(r.stderr, "too late to cancel: "+id+`, key "k"`) {
		t.Errorf("%+v; want %q", r, want)
	}
	if got := d.timersOf("--status", "claimed"); len(got) != 1 || got[0].LockedUntil.IsZero() || got[0].Owner != (outbox.OwnerToken{1}) || !got[0].NextAttemptAt.IsZero() {
		t.Errorf("%+v", got)
	}
}

func TestTimersMistakes(t *testing.T) {
	d := onSQLite(t)
	id := d.added("--due", "1h", "--data", "")
	long := strings.Repeat("é", 256)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"timers"}, exitUsage, `(see "pawl timers --help")`},
		{[]string{"timers", "ls", "--status", "lost"}, exitUsage, "--status: want scheduled"},
		{[]string{"timers", "ls", "--limit", "0"}, exitUsage, "--limit"},
		{[]string{"timers", "ls", "--after", "7"}, exitUsage, `--after: "7" is not the id of a timer`},
		{[]string{"timers", "ls", "--after", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"}, exitFailure, "timer not found: 6ba7b814-9dad-11d1-80b4-00c04fd430c8 (or"},
		{[]string{"timers", "ls", "--after", id, "--status", "fired"}, exitUsage, "--after: that timer is scheduled, not fired"},
		{[]string{"timers", "add", "--due", "1s"}, exitUsage, "--topic"},
		{[]string{"timers", "add", "--topic", "t"}, exitUsage, "missing flags: --due=WHEN"},
		{[]string{"timers", "add", "--topic", "t", "--due=-1s"}, exitUsage, `--due: "-1s": want a time like`},
		{[]string{"timers", "add", "--topic", "t", "--due", "2030-13-01"}, exitUsage, `--due: "2030-13-01": want a time like`},
		{[]string{"timers", "add", "--topic", long, "--due", "1s"}, exitUsage, "topic: more than 255"},
		{[]string{"timers", "add", "--topic", "t", "--due", "1s", "--key", long}, exitUsage, "key: more than 255"},
		{[]string{"timers", "add", "--topic", "t", "--due", "1s", "--priority", "101"}, exitUsage, "priority"},
		{[]string{"timers", "add", "--topic", "t", "--due", "1s", "--data", strings.Repeat("x", 1<<20+1)}, exitFailure, "--data: invalid argument: payload: more than 1048576 bytes"},
		{[]string{"timers", "cancel"}, exitUsage, "want ids or --key"},
		{[]string{"timers", "cancel", "zz"}, exitUsage, `"zz" is not the id of a timer`},
		{[]string{"timers", "cancel", "--key", " "}, exitUsage, "key: empty or blank"},
		{[]string{"timers", "cancel", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"}, exitFailure, "timer not found"},
	} {
		if r := d.run("", c.args...); r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" || len(lines(r.stderr)) != 1 {
			t.Errorf("%.200q: %+v; want %d and %q", c.args, r, c.code, c.want)
		}
	}
	if all := d.timersOf(); len(all) != 1 {
		t.Errorf("stored after all: %+v", all)
	}
}
