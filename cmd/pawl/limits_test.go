package main

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// D-214: operators set, list and remove limits.
func TestLimits(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if r := d.run("", "limits", "ls"); r != (result{stderr: "no limits\n"}) {
			t.Errorf("none: %+v", r)
		}
		if out := d.must("", "limits", "set", "topic", "t", "--concurrency", "1", "--actor", "alice", "--reason", "their\x1b API"); out != "topic t limited\n" {
			t.Errorf("set: %q", out)
		}
		if out := d.must("", "limits", "set", "topic", "t", "--concurrency", "1"); out != "topic t had this limit\n" {
			t.Errorf("set again: %q", out)
		}
		if out := d.must("", "limits", "set", "queue", "q", "--rate", "100/2m", "--json"); out != `{"kind":"queue","name":"q","changed":true}`+"\n" {
			t.Errorf("set as JSON: %q", out)
		}
		d.must("1\n2\n3\n", "enqueue", "--topic", "t")
		out := d.must("", "work", "--topic", "t", "-c", "3", "--exec", "cat", "--drain", "--quiet")
		if got := len(strings.Fields(out)); got != 3 {
			t.Errorf("worked on %d of 3", got)
		}
		out = d.must("", "limits", "ls")
		if table := regexp.MustCompile(`(?s)^KIND +NAME .*queue +q +100/2m +1 +0 +0 .*topic +t +1 +0 +0 .*alice +their\\x1b API\n$`); !table.MatchString(out) {
			t.Errorf("listed:\n%s", out)
		}
		var l limitJSON
		decode(t, lines(d.must("", "limits", "ls", "--json"))[0], &l)
		if l.Rate != 100 || l.Period != 2*time.Minute || l.Burst != 1 || l.Kind != "queue" || l.Since.IsZero() {
			t.Errorf("%+v", l)
		}
		if out := d.must("", "audit"); !strings.Contains(out, "limit ") || !strings.Contains(out, "alice") {
			t.Errorf("audited:\n%s", out)
		}
		if out := d.must("", "limits", "rm", "topic", "t"); out != "topic t has no limit any more\n" {
			t.Errorf("rm: %q", out)
		}
		if out := d.must("", "limits", "rm", "topic", "t"); out != "topic t had no limit\n" {
			t.Errorf("rm again: %q", out)
		}
	})
}

// D-216: operators limit each topic of a pattern.
func TestLimitsOfEachTopic(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if out := d.must("", "limits", "set", "each", "call.*", "--concurrency", "2"); out != "each call.* limited\n" {
			t.Errorf("set: %q", out)
		}
		d.must("1\n2\n3\n", "enqueue", "--topic", "call.a")
		if out := d.must("", "work", "--topic", "call.a", "-c", "3", "--exec", "cat", "--drain", "--quiet"); len(strings.Fields(out)) != 3 {
			t.Errorf("worked on %q", out)
		}
		if out := d.must("", "limits", "ls"); !regexp.MustCompile(`(?s)^KIND +NAME .*\neach +call\.\* +2 +0 +0 [^\n]*\n$`).MatchString(out) {
			t.Errorf("listed:\n%s", out)
		}
		if r := d.run("", "pause", "each", "call.*"); r.code != 2 {
			t.Errorf("paused: %+v", r)
		}
		if out := d.must("", "limits", "rm", "each", "call.*"); out != "each call.* has no limit any more\n" {
			t.Errorf("rm: %q", out)
		}
	})
}

// D-214: a limit that makes no sense is refused.
func TestLimitsRefused(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	for _, args := range [][]string{
		{"topic", "t"}, {"topic", "", "--concurrency", "1"}, {"table", "t", "--concurrency", "1"}, {"each", "call", "--concurrency", "1"}, {"topic", "t", "--concurrency", "-1"}, {"topic", "t", "--burst", "3"},
		{"topic", "t", "--rate", "10"}, {"topic", "t", "--rate", "10/x"}, {"topic", "t", "--rate", "0/s"}, {"topic", "t", "--rate", "1000000/s"}, {"topic", "t", "--rate", "5/-1s"}, {"topic", "t", "--rate", "5/0s"},
	} {
		if r := d.run("", append([]string{"limits", "set"}, args...)...); r.code != 2 || r.stdout != "" {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
