package main

import (
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bravellian/pawl/internal/view"
)

func TestPauses(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		drain := func(want ...string) {
			t.Helper()
			r := d.run("", "work", "--topic", "t", "--topic", "u", "--queue", "default", "--queue", "q", "-c", "1", "--exec", "cat", "--drain", "--quiet")
			if got := strings.Fields(r.stdout); !slices.Equal(got, want) || r.code != exitOK && r.code != exitLeft {
				t.Errorf("worked on %q, want %q, exit code %d", got, want, r.code)
			}
		}
		d.must("1\n2\n", "enqueue", "--topic", "t")
		if r := d.run("", "pauses"); r != (result{stderr: "nothing is paused\n"}) {
			t.Errorf("none: %+v", r)
		}
		if out := d.must("", "pause", "topic", "t", "--reason", "no\x1b mail", "--actor", "alice"); out != "topic t paused\n" {
			t.Errorf("pause: %q", out)
		}
		if out := d.must("", "pause", "queue", "q\x1b[2J", "--json", "--actor", "bob"); out != `{"kind":"queue","name":"q\u001b[2J","changed":true}`+"\n" {
			t.Errorf("pause as JSON: %q", out)
		}
		since := `topic t was paused already, since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\dZ by alice: no\\x1b mail`
		if out := d.must("", "pause", "topic", "t", "--actor", "bob"); !regexp.MustCompile(`^` + since + `\n$`).MatchString(out) {
			t.Errorf("again: %q", out)
		}
		if out := d.must("", "pause", "topic", "t", "--reason", "other", "--actor", "bob"); !regexp.MustCompile(`^` + since + `; the new reason was not kept\n$`).MatchString(out) {
			t.Errorf("with another reason: %q", out)
		}
		if out := d.must("", "pause", "topic", "t", "--reason", "other", "--json"); out != `{"kind":"topic","name":"t","changed":false}`+"\n" {
			t.Errorf("again as JSON: %q", out)
		}
		out := d.must("", "pauses")
		for _, want := range []string{"KIND ", "topic  t ", "paused  2", "alice", `no\x1b mail`, `queue  q\x1b[2J`, "bob"} {
			if !strings.Contains(out, want) || strings.Contains(out, "STORE") || len(lines(out)) != 3 {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		d.must("3\n", "enqueue", "--topic", "t")
		d.must("4\n", "enqueue", "--topic", "u")
		drain("4")

		var all []pauseJSON
		for line := range strings.Lines(d.must("", "pauses", "--json")) {
			var v pauseJSON
			decode(t, line, &v)
			all = append(all, v)
		}
		if len(all) != 2 || all[1].Kind != "topic" || all[1].Name != "t" || all[1].Actor != "alice" || all[1].Reason != "no\x1b mail" || all[1].Since.IsZero() || all[1].Ending {
			t.Errorf("%+v", all)
		}
		if out := d.must("", "resume", "topic", "t"); out != "topic t resumed\n" {
			t.Errorf("resume: %q", out)
		}
		if out := d.must("", "resume", "topic", "t", "--json"); out != `{"kind":"topic","name":"t","changed":false}`+"\n" {
			t.Errorf("resume as JSON: %q", out)
		}
		if out := d.must("", "resume", "queue", "other"); out != "queue other was not paused\n" {
			t.Errorf("resume another: %q", out)
		}
		drain("1", "2", "3")

		d.must("", "pause", "queue", "q")
		d.must("5\n", "enqueue", "--topic", "t", "--queue", "q")
		d.must("6\n", "enqueue", "--topic", "t")
		drain("6")
		d.must("", "resume", "queue", "q")
		drain("5")
	})
}

// A worker learns of a pause that another process made, and of its end.
func TestWorkObeysPause(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		p := d.process("work", "--topic", "t", "--topic", "u", "-c", "1", "--exec", "cat")
		eventually(t, "the worker to be listed", func() bool { return strings.Contains(d.run("", "workers").stdout, "alive") })
		d.must("", "pause", "topic", "t")
		done := func(id string) bool {
			var m view.Message
			decode(t, d.must("", "show", id, "--json"), &m)
			return m.Status == "done"
		}
		// What is done in order, one at a time, is done past a message of t.
		var paused string
		eventually(t, "the worker to see the pause", func() bool {
			paused = strings.TrimSpace(d.must("paused", "enqueue", "--topic", "t"))
			next := strings.TrimSpace(d.must("next", "enqueue", "--topic", "u"))
			eventually(t, "the next to be done", func() bool { return done(next) })
			return !done(paused)
		})
		d.must("", "resume", "topic", "t")
		eventually(t, "the paused one to be done", func() bool { return done(paused) })
		p.signal(syscall.SIGTERM)
		if code := p.wait(); code != exitOK {
			t.Errorf("exit code %d: %s", code, p.stderr.String())
		}
	})
}

func TestPauseMistakes(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	long := strings.Repeat("é", 256)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pause"}, "<kind>"},
		{[]string{"pause", "topic"}, "<name>"},
		{[]string{"pause", "topics", "t"}, `must be one of "topic","queue"`},
		{[]string{"pause", "topic", " "}, "topic: empty or blank"},
		{[]string{"pause", "queue", ""}, "queue: empty or blank"},
		{[]string{"pause", "queue", long}, "queue: more than 255 characters"},
		{[]string{"pause", "queue", "q", "--reason", strings.Repeat("é", 1001)}, "--reason: more than 1000 characters"},
		{[]string{"resume", "job", "j"}, "must be one of"},
		{[]string{"resume", "topic", ""}, "topic: empty or blank"},
		{[]string{"timers", "cancel", "x", "--reason", strings.Repeat("é", 1001)}, "--reason: more than 1000 characters"},
		{[]string{"pauses", "t"}, "unexpected argument"},
	} {
		if r := d.run("", c.args...); r.code != exitUsage || !strings.Contains(r.stderr, c.want) || r.stdout != "" || len(lines(r.stderr)) != 1 {
			t.Errorf("%.200q: %+v; want %q", c.args, r, c.want)
		}
	}
	if r := d.run("", "pauses"); r.stderr != "nothing is paused\n" {
		t.Errorf("paused after all: %+v", r)
	}
}
