package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
)

// jobOf is a job as "pawl jobs ls" shows it.
func (d *database) jobOf(name string) (v view.Job) {
	d.t.Helper()
	for line := range strings.Lines(d.must("", "jobs", "ls", "--json")) {
		var one view.Job
		if decode(d.t, line, &one); one.Name == name {
			v = one
		}
	}
	return v
}

func TestJobsPutAndList(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	if r := d.run("", "jobs", "ls"); r.code != exitOK || r.stdout != "" || r.stderr != "no jobs\n" {
		t.Errorf("none: %+v", r)
	}
	out := d.must("", "jobs", "put", "a", "--schedule", "0 6 * * MON-FRI", "--topic", "t", "--zone", "Europe/Berlin")
	if !strings.HasPrefix(out, "a  enabled, next run 2") {
		t.Errorf("put: %q", out)
	}
	if again := d.must("", "jobs", "put", "a", "--schedule", "0 6 * * MON-FRI", "--topic", "t", "--zone", "Europe/Berlin"); again != out {
		t.Errorf("again: %q, then %q", out, again)
	}
	d.must("from stdin", "jobs", "put", "b's\x1b[2J", "--schedule", "@every 90m", "--topic", "t", "--data", "-", "--misfire", "all", "--misfire-limit", "3",
		"--overlap", "skip", "--spread", "90s", "--queue", "q", "--priority", "7", "--header", "a=b;c")
	d.must("ignored", "jobs", "put", "c", "--schedule", "@daily", "--topic", "u", "--misfire", "none", "--json")
	b := d.jobOf("b's\x1b[2J")
	if b.Misfire != "all" || b.MisfireLimit != 3 || b.Overlap != "skip" || b.SpreadSeconds != 90 || b.Queue != "q" || b.Priority != 7 ||
		b.Headers["a"] != "b;c" || b.PayloadBytes != len("from stdin") || b.Zone != "UTC" || b.NextRunAt.IsZero() || !b.LastRunID.IsZero() || b.LastRunStatus != "" {
		t.Errorf("%+v", b)
	}
	if c := d.jobOf("c"); c.Misfire != "none" || c.Overlap != "allow" || c.PayloadBytes != 0 || c.Topic != "u" || c.State != "enabled" {
		t.Errorf("%+v", c)
	}
	r := d.run("", "jobs", "ls", "--limit", "2")
	if !strings.Contains(r.stdout, `b's\x1b[2J`) || strings.Contains(r.stdout, "\nc") || !strings.Contains(r.stdout, "0 6 * * MON-FRI  Europe/Berlin") ||
		!strings.Contains(r.stderr, `--after 'b'\''s\x1b[2J'`) {
		t.Errorf("first page: %+v", r)
	}
	if out := d.must("", "jobs", "ls", "--json", "--after", "b's\x1b[2J"); len(lines(out)) != 1 || !strings.Contains(out, `"c"`) {
		t.Errorf("second page: %q", out)
	}
}

// D-206
func TestJobsSync(t *testing.T) {
	d := onSQLite(t)
	d.must("", "jobs", "put", "by hand", "--schedule", "@daily", "--topic", "t")
	const file = `[{"name": "a", "schedule": "0 6 * * *", "zone": "Europe/Berlin", "topic": "t", "payload": "{}", "spread": "90s", "overlap": "skip", "headers": {"h": "v"}},
		{"name": "b", "schedule": "@hourly", "topic": "t", "payload_base64": "/w=="}]`
	if out := d.must(file, "jobs", "sync", "-", "--owner", "shop", "--dry-run"); out != "a  would be stored\nb  would be stored\n" {
		t.Errorf("dry run: %q", out)
	}
	if out := d.must(file, "jobs", "sync", "-", "--owner", "shop"); out != "a  stored\nb  stored\n" {
		t.Errorf("first: %q", out)
	}
	if a := d.jobOf("a"); a.Owner != "shop" || a.SpreadSeconds != 90 || a.Overlap != "skip" || a.Headers["h"] != "v" || a.PayloadBytes != 2 || a.Zone != "Europe/Berlin" {
		t.Errorf("%+v", a)
	}
	if b := d.jobOf("b"); b.PayloadBytes != 1 {
		t.Errorf("%+v", b)
	}
	if out := d.must(`[{"name": "a", "schedule": "0 7 * * *", "topic": "t"}]`, "jobs", "sync", "-", "--owner", "shop", "--json"); out != `{"stored":["a"],"unchanged":[],"removed":["b"]}`+"\n" {
		t.Errorf("second: %q", out)
	}
	d.must(`[{"name": "a", "schedule": "0 7 * * *", "topic": "t", "payload": {"n": [1, null]}}]`, "jobs", "sync", "-", "--owner", "shop")
	if out := d.must(`[{"name": "a", "schedule": "0 7 * * *", "topic": "t", "payload": "{\"n\": [1, null]}"}]`, "jobs", "sync", "-", "--owner", "shop"); out != "a  unchanged\n" {
		t.Errorf("the same payload as text: %q", out)
	}
	if hand := d.jobOf("by hand"); hand.Name == "" || hand.Owner != "" {
		t.Errorf("%+v", hand)
	}
	for body, want := range map[string]string{
		`[{"name": "a", "sched": "@daily"}]`: `job 1, "a": unknown field "sched"`, `{`: "not a JSON array", `[{"name": "b"}, {"name": "a", "spread": "soon"}]`: `job 2, "a": spread`,
		`[{"name": "a", "priority": "high"}]`: `job 1, "a": field "priority": want a whole number`, `[null]`: "job 1, \"\": not a JSON object",
		`[{"name": "a", "payload": {}, "payload_base64": ""}]`: `both "payload" and "payload_base64"`,
	} {
		if r := d.run(body, "jobs", "sync", "-", "--owner", "shop"); r.code != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", body, r)
		}
	}
	if r := d.run(`[{"name": "a", "schedule": "@daily", "topic": "t"}]`, "jobs", "sync", "-", "--owner", "other"); r.code == exitOK || !strings.Contains(r.stderr, `"a" of "shop"`) {
		t.Errorf("another's: %+v", r)
	}
}

func TestJobsRunAndRuns(t *testing.T) {
	d := onSQLite(t)
	d.must("", "jobs", "put", "n", "--schedule", "0 0 1 1 *", "--topic", "t")
	if r := d.run("", "jobs", "runs", "n"); r.code != exitOK || r.stdout != "" || r.stderr != "no runs\n" {
		t.Errorf("none: %+v", r)
	}
	first := strings.TrimSpace(d.must("", "jobs", "run", "n"))
	d.leaves("work", "--topic", "t", "--exec", "echo no such customer >&2; exit 65", "--drain", "--quiet")
	var second struct {
		RunID string `json:"run_id"`
		Job   string
	}
	decode(t, d.must("", "jobs", "run", "n", "--json"), &second)
	out := d.must("", "jobs", "runs", "n")
	for _, want := range []string{first, second.RunID, "failed", "no such customer", "pending", "by hand"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	r := d.run("", "jobs", "runs", "n", "--limit", "1")
	if !strings.Contains(r.stdout, second.RunID) || !strings.HasSuffix(r.stderr, "--after "+second.RunID+"\n") || second.Job != "n" {
		t.Errorf("first page: %+v", r)
	}
	var v job.Run
	decode(t, d.must("", "jobs", "runs", "n", "--after", second.RunID, "--json"), &v)
	if v.ID.String() != first || v.Status != "failed" || !strings.Contains(v.LastError, "no such customer") || v.Job != "n" {
		t.Errorf("second page: %+v", v)
	}
	if j := d.jobOf("n"); j.LastRunStatus != "pending" || j.LastRunID.IsZero() || j.LastRunID.String() != second.RunID {
		t.Errorf("job: %+v", j)
	}
}

func TestJobsEnableDisableRemove(t *testing.T) {
	d := onSQLite(t)
	for _, name := range []string{"a", "b"} {
		d.must("", "jobs", "put", name, "--schedule", "@daily", "--topic", "t")
	}
	// Nothing is touched where one is no name.
	if r := d.run("", "jobs", "disable", "a", " "); r.code != exitUsage || d.jobOf("a").State != "enabled" {
		t.Errorf("with a mistake: %+v", r)
	}
	r := d.run("", "jobs", "disable", "a", "n\x1bone", "b")
	if r.code != exitFailure || r.stdout != "a  disabled\nb  disabled\n" || r.stderr != `pawl: job not found: "n\x1bone"`+"\n" {
		t.Errorf("disable: %+v", r)
	}
	if j := d.jobOf("a"); j.State != "disabled" || !j.NextRunAt.IsZero() {
		t.Errorf("disabled: %+v", j)
	}
	if out := d.must("", "jobs", "put", "a", "--schedule", "@hourly", "--topic", "t"); out != "a  disabled\n" {
		t.Errorf("put: %q", out)
	}
	var v view.Job
	decode(t, d.must("", "jobs", "enable", "a", "--json"), &v)
	if v.State != "enabled" || v.NextRunAt.IsZero() || v.NextRunAt.Before(time.Now().Add(-time.Minute)) {
		t.Errorf("enabled: %+v", v)
	}
	if out := d.must("", "jobs", "rm", "a"); out != "a  removed\n" {
		t.Errorf("rm: %q", out)
	}
	if r := d.run("", "jobs", "rm", "a", "b", "--json"); r.code != exitFailure || r.stdout != `{"name":"b","removed":true}`+"\n" || !strings.Contains(r.stderr, `"a"`) {
		t.Errorf("rm again: %+v", r)
	}
}

func TestJobsNext(t *testing.T) {
	after := []string{"--after", "2026-03-28T12:00:00Z", "--limit", "2"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"30 2 * * *"}, "at 02:30 every day, in UTC\n\nSun  2026-03-29 02:30:00Z\nMon  2026-03-30 02:30:00Z\n"},
		{[]string{"30 2 * * *", "--zone", "Europe/Berlin"}, // where 02:30 is left out on the 29th
			"at 02:30 every day, in Europe/Berlin\n\nSun 2026-03-29 03:00:00 CEST  2026-03-29 01:00:00Z\nMon 2026-03-30 02:30:00 CEST  2026-03-30 00:30:00Z\n"},
		{[]string{"30 2 * * *", "--zone", "Europe/Berlin", "--json"},
			`{"schedule":"30 2 * * *","zone":"Europe/Berlin","words":"at 02:30 every day","next":["2026-03-29T03:00:00+02:00","2026-03-30T02:30:00+02:00"]}` + "\n"},
	} {
		r := command(t.Context(), "", append(append([]string{"jobs", "next", "--db=sqlite:/no/such/place.db"}, c.args...), after...)...)
		if r.code != exitOK || r.stdout != c.want || r.stderr != "" {
			t.Errorf("%q: %+v; want %q", c.args, r, c.want)
		}
	}
	if r := command(t.Context(), "", "jobs", "next", "@hourly"); len(lines(r.stdout)) != 7 {
		t.Errorf("%+v", r)
	}
}

// A schedule that cannot be read is shown, with a mark at the place.
func TestJobsScheduleMistakes(t *testing.T) {
	d := onSQLite(t)
	for _, c := range []struct{ schedule, want, picture string }{
		{"0 61 * * *", "schedule: invalid cron expression: hour: not within 0-23 (at byte 2)", "    0 61 * * *\n      ^\n"},
		{"0\t1 * \u009bé *", "schedule: invalid cron expression: month", "    0\\t1 * \\x9bé *\n           ^\n"},
		{"0 1 *", "5 or 6 fields wanted, 3 found", "    0 1 *\n         ^\n"},
		{"", "schedule: invalid cron expression: empty", "    \n    ^\n"},
		{strings.Repeat("*", 300), "longer than 256 bytes", ""},
	} {
		for _, args := range [][]string{{"next", c.schedule}, {"put", "n", "--topic", "t", "--schedule", c.schedule}} {
			r := d.run("", append([]string{"jobs"}, args...)...)
			line, picture, _ := strings.Cut(r.stderr, "\n")
			if r.code != exitUsage || r.stdout != "" || !strings.Contains(line, c.want) || !strings.Contains(line, "pawl jobs "+args[0]+" --help") || picture != c.picture {
				t.Errorf("%q: %+v; want %q and\n%s", args, r, c.want, c.picture)
			}
		}
	}
}

func TestJobsMistakes(t *testing.T) {
	d := onSQLite(t)
	put := func(args ...string) []string {
		return append([]string{"jobs", "put", "n", "--topic", "t", "--schedule", "@daily"}, args...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"jobs"}, `(see "pawl jobs --help")`},
		{[]string{"jobs", "put", "n", "--topic", "t"}, "--schedule"},
		{[]string{"jobs", "put", "n", "--schedule", "@daily"}, "--topic"},
		{[]string{"jobs", "put", " ", "--topic", "t", "--schedule", "@daily"}, "name: empty or blank"},
		{put("--topic", ""), "topic: empty"},
		{put("--zone", "Mars/Base"), "zone: unknown time zone Mars/Base"},
		{put("--zone", "Local"), `zone: "Local" is another zone on every machine`},
		{put("--misfire", "never"), "--misfire must be one of"},
		{put("--misfire-limit", "3"), "--misfire-limit goes with --misfire=all"},
		{put("--misfire", "all", "--misfire-limit", "1001"), "--misfire-limit: not within 1 … 1000"},
		{put("--overlap", "wait"), "--overlap must be one of"},
		{put("--spread", "25h"), "--spread: not within 0 … 24h"},
		{put("--header", "x"), "--header"},
		{[]string{"jobs", "next", "* *", "*"}, "unexpected argument"},
		{[]string{"jobs", "next", "@daily", "--zone", "Mars/Base"}, "zone: unknown time zone"},
		{[]string{"jobs", "next", "@daily", "--after", "soon"}, `--after: "soon": want a time like`},
		{[]string{"jobs", "next", "@daily", "-n", "0"}, "--limit"},
		{[]string{"jobs", "ls", "--limit", "0"}, "--limit"},
		{[]string{"jobs", "runs", "n", "--limit", "0"}, "--limit"},
		{[]string{"jobs", "runs", "n", "--after", "zz"}, `--after: "zz" is not the id of a run`},
		{[]string{"jobs", "run"}, "<name>"},
		{[]string{"jobs", "run", ""}, "name: empty"},
		{[]string{"jobs", "rm"}, "<name>"},
	} {
		if r := d.run("", c.args...); r.code != exitUsage || !strings.Contains(r.stderr, c.want) || r.stdout != "" || len(lines(r.stderr)) != 1 {
			t.Errorf("%q: %+v; want %q", c.args, r, c.want)
		}
	}
	if r := d.run("", "jobs", "ls"); !strings.Contains(r.stderr, "does not exist") {
		t.Errorf("a mistake made a file: %+v", r)
	}
	d.must("", "migrate")
	for _, command := range []string{"run", "runs", "rm", "enable", "disable"} {
		if r := d.run("", "jobs", command, "n\x1bone"); r.code != exitFailure || r.stdout != "" || r.stderr != `pawl: job not found: "n\x1bone"`+"\n" {
			t.Errorf("%s: %+v", command, r)
		}
	}
	if r := d.run("", "jobs", "runs", "n", "--after", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"); r.code != exitUsage || !strings.Contains(r.stderr, "no such run") {
		t.Errorf("runs: %+v", r)
	}
}
