package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/inspect"
)

// D-575: pawl stats shows what workers did, by topic, from outside them.
func TestStats(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if r := d.run("", "stats"); r != (result{stderr: "no worker counted anything\n"}) {
			t.Errorf("none: %+v", r)
		}
		d.must("1\n2\n3\n", "enqueue", "--topic", "good")
		d.must("", "work", "--topic", "good", "--exec", "true", "--drain", "--quiet")
		d.must("1\n2\n", "enqueue", "--topic", "bad")
		d.run("", "work", "--topic", "bad", "--exec", "echo no such customer >&2; false", "--drain", "--quiet", "--max-attempts", "1")
		out := d.must("", "stats")
		want := regexp.MustCompile(`^QUEUE +TOPIC +ENQUEUED +DONE +RETRIED +FAILED +EXPIRED +WAIT +TOOK +CHART\n` +
			`default +bad +2 +0 +0 +2 +0 +\d\S* +\d\S* +·+ *\ndefault +good +3 +3 +0 +0 +0 +\d\S* +\d\S* +·+ ?█ ?\n$`)
		if !want.MatchString(out) {
			t.Errorf("listed:\n%s", out)
		}
		if out := d.must("", "stats", "bad", "--since", "5m"); !strings.Contains(out, "2 × ") || !strings.Contains(out, "no such customer") || strings.Contains(out, "good") {
			t.Errorf("of one topic:\n%s", out)
		}
		var m statsJSON
		if decode(t, lines(d.must("", "stats", "good", "--json"))[0], &m); m.Topic != "good" || m.Done != 3 || m.Enqueued != 3 || m.Takes.Count() != 3 || len(m.Bounds) != 19 || m.KnownFrom.IsZero() || len(m.Steps) != 60 {
			t.Errorf("%+v", m.Totals)
		}
		if r := d.run("", "stats", "--since", "1s"); r.code != exitUsage {
			t.Errorf("too short a time: %+v", r)
		}
	})
}

// D-575: a chart tells nothing done from not known.
func TestStatsChart(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	m := statsJSON{KnownFrom: begin.Add(2 * time.Minute)}
	for i, n := range []int64{0, 0, 0, 1, 50, 100} {
		m.Steps = append(m.Steps, inspect.ActivityStep{At: begin.Add(time.Duration(i) * time.Minute), Totals: activity.Totals{Done: n}})
	}
	if got := m.chart(); got != "·· ▁▄█" {
		t.Errorf("%q", got)
	}
}
