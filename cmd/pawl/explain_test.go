package main

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		id := strings.TrimSpace(d.must("x", "enqueue", "--topic", "mail", "--queue", "post"))
		out := d.must("", "explain", id)
		for _, want := range []string{"message " + id + ": no_worker\n", `No live worker serves queue "post".`, "what helps: start a worker", "  topic ", "mail\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		var x struct {
			Kind, ID, Code, Level string
			Facts                 map[string]string
			Causes                []struct{ Kind, Code string }
			AlsoMatches           []struct{ Kind, Code string } `json:"also_matches"`
		}
		decode(t, d.must("", "explain", id, "--json"), &x)
		if x.Kind != "message" || x.ID != id || x.Code != "no_worker" || x.Level != "problem" || x.Facts["queue"] != "post" {
			t.Errorf("as JSON: %+v", x)
		}
		d.must("", "jobs", "put", "report", "--topic", "t", "--schedule", "0 0 1 1 *")
		d.must("", "jobs", "run", "report")
		d.must("", "timers", "add", "--topic", "t", "--due", "1h", "--key", "report", "--data", "x")
		out = d.must("", "explain", "report")
		for _, want := range []string{": timer_pending\n", "\njob report: job_next\n", "\nbecause of\n  run ", "\n    message ", " (t): no_worker\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		x.Causes, x.AlsoMatches = nil, nil
		decode(t, d.must("", "explain", "report", "--kind", "job", "--json"), &x)
		if x.Kind != "job" || len(x.AlsoMatches) > 0 || len(x.Causes) != 1 || x.Causes[0].Code != "run_pending" {
			t.Errorf("of the job: %+v", x)
		}
	})
}

func TestExplainUnknown(t *testing.T) {
	d := onSQLite(t)
	d.must("x", "enqueue", "--topic", "t")
	r := d.run("", "explain", "4711")
	if r.code != exitFailure || !strings.Contains(r.stderr, `goes by "4711"`) || !strings.Contains(r.stderr, "cleaned up") || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	if r := d.run("", "explain", "1", "--kind", "job"); r.code != exitFailure || !strings.Contains(r.stderr, "no job goes by") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.stderr, "no message, timer, job, run, join or inbox message goes by") {
		t.Errorf("%+v", r)
	}
	if r := d.run("", "explain", "1", "--kind", "thing"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}

// What others wrote must not steer the terminal of who asks.
func TestExplainEscapes(t *testing.T) {
	d := onSQLite(t)
	id := strings.TrimSpace(d.must(`{"topic":"t\u001b[2J","payload":"p"}`, "enqueue"))
	d.leaves("work", "--topic", "t\x1b[2J", "--exec", `printf 'e\033[31m' >&2; exit 65`, "--drain", "--quiet")
	for _, args := range [][]string{{"explain", id}, {"explain", id, "--json"}} {
		if out := d.must("", args...); strings.ContainsAny(out, "\x1b") || !strings.Contains(out, "failed") {
			t.Errorf("%s: %q", args, out)
		}
	}
}
