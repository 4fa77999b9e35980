package main

import (
	"strings"
	"testing"
)

// D-462: a drain that leaves work behind says what, with an exit code of its own; what is
// scheduled, of other topics, or failed before this drain is none of it.
func TestDrainSaysWhatIsLeft(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		drain := func(script string, more ...string) result {
			return d.run("", append([]string{"work", "--topic", "t", "--drain", "--quiet", "--exec", script}, more...)...)
		}
		for _, c := range []struct {
			name, in, script, left string
			code                   int
			before                 []string
		}{
			{"done", "x", "true", "", exitOK, nil},
			{"only scheduled, or of another topic", "", "false", "", exitOK, nil},
			{"failed", "x\ny\n", `[ "$(cat)" = x ] && exit 65; exit 0`, "left behind: 1 message failed for good\n", exitLeft, nil},
			{"failed before", "", "true", "", exitOK, nil},
			{"to be tried again", "x", "exit 75", "left behind: 1 message to be tried again\n", exitLeft, nil},
			{"as before", "", "true", "left behind: 1 message to be tried again\n", exitLeft, nil},
			{"paused", "x\ny\n", "true", "left behind: 1 message to be tried again, 2 messages due but paused, limited or behind others\n", exitLeft, []string{"pause", "topic", "t"}},
		} {
			d.must(`{"topic":"other","payload":"z"}`+"\n"+`{"topic":"t","payload":"later","due":"1h"}`, "enqueue")
			if c.before != nil {
				d.must("", c.before...)
			}
			var ids []string
			if c.in != "" {
				ids = lines(d.must(c.in, "enqueue", "--topic", "t"))
			}
			if r := drain(c.script); r.code != c.code || saidOf(r) != c.left {
				t.Errorf("%s: %+v, want %q", c.name, r, c.left)
			}
			if c.name == "to be tried again" { // and not soon
				d.must("", "reschedule", ids[0], "--due", "1h")
			}
		}
	})
}

// said is what a command line said beside its log.
func saidOf(r result) (text string) {
	for line := range strings.Lines(r.stderr) {
		if rest, ok := strings.CutPrefix(line, "pawl: "); ok {
			text += rest
		}
	}
	return text
}

// D-462: what succeeds at a later attempt of the same drain is not left.
func TestDrainForgetsWhatSucceeds(t *testing.T) {
	d := onSQLite(t)
	d.must("x\ny\n", "enqueue", "--topic", "t")
	// The other message holds the drain until the first one is done.
	done := t.TempDir() + "/done"
	r := d.run("", "work", "--topic", "t", "--drain", "--quiet", "--exec",
		`if [ "$(cat)" = x ]; then [ $PAWL_ATTEMPT = 1 ] && exit 75; echo > "`+done+`"; else while [ ! -e "`+done+`" ]; do sleep 0.01; done; fi`)
	if r.code != exitOK || saidOf(r) != "" {
		t.Errorf("%+v", r)
	}
}

// D-461: a command that cannot be run stops the worker with one line, and costs no message an
// attempt.
func TestCommandThatCannotBeRunStopsTheWorker(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("1\n2\n3\n", "enqueue", "--topic", "t")
		for script, c := range map[string]struct {
			code int
			why  string
		}{"no-such-command-here": {exitNoCommand, "not found"}, "/": {exitNoStart, "126"}} {
			for _, more := range [][]string{nil, {"--drain"}} {
				r := d.run("", append([]string{"work", "--topic", "t", "-c", "1", "--quiet", "--exec", script + " 2>&1 >/dev/null | cat >&2; " + script}, more...)...)
				last := lines(r.stderr)[len(lines(r.stderr))-1]
				if r.code != c.code || strings.Count(r.stderr, "pawl: ") != 1 || !strings.HasPrefix(last, "pawl: the command cannot be run") || !strings.Contains(last, c.why) {
					t.Errorf("%s %s: %+v", script, more, r)
				}
			}
		}
		var all []struct {
			Status     string
			RetryCount int `json:"retry_count"`
		}
		for _, line := range lines(d.must("", "ls", "--json")) {
			all = append(all, struct {
				Status     string
				RetryCount int `json:"retry_count"`
			}{})
			decode(t, line, &all[len(all)-1])
		}
		for _, m := range all {
			if m.Status != "ready" || m.RetryCount != 0 {
				t.Errorf("%+v", m)
			}
		}
		if len(all) != 3 {
			t.Errorf("%d messages", len(all))
		}
	})
}
