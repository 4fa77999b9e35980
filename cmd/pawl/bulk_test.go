//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/view"
)

// bulks are the bulk acts, the newest first.
func (d *database) bulks() (all []acts.Bulk) {
	d.t.Helper()
	for line := range strings.Lines(d.must("", "bulk", "ls", "--json")) {
		var b bulkJSON
		decode(d.t, line, &b)
		all = append(all, b.Bulk)
	}
	return all
}

// failingN has n messages fail.
func (d *database) failingN(n int) {
	d.t.Helper()
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"topic":"t","payload":%d}`, i)
	}
	d.failing(all...)
}

// D-411: a redrive at a rate is stored: the command returns at once and says that no worker runs,
// the act is listed and stopped.
func TestBulk(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if out := d.must("", "bulk", "ls"); out != "" {
			t.Errorf("no acts: %q", out)
		}
		d.failingN(4)
		out := d.must("", "retry", "--all", "--topic", "t", "--rate", "2", "--actor", "alice", "--reason", "T-1")
		all := d.bulks()
		if len(all) != 1 || all[0].Status != acts.Stored || all[0].Total != 4 || all[0].Actor != "alice" || all[0].Reason != "T-1" || all[0].Filter.Rate != 2 {
			t.Fatalf("%+v", all)
		}
		if want := "stored " + all[0].ID.String() + ": 4 messages to be retried, 2 a second; no worker is running: nothing happens before one is\n"; out != want {
			t.Errorf("%q, want %q", out, want)
		}
		var b acts.Bulk
		decode(t, d.must("", "discard", "--all", "--rate", "1", "--json"), &b)
		if b.Action != "discard" || b.Total != 4 || len(d.bulks()) != 2 {
			t.Errorf("%+v", b)
		}
		if out := d.must("", "bulk", "stop", b.ID.String()); out != "stopped "+b.ID.String()+": it changed 0 messages of 4\n" {
			t.Errorf("stop: %q", out)
		}
		if r := d.run("", "bulk", "stop", b.ID.String()); r.code != exitFailure || !strings.Contains(r.stderr, "is stopped") {
			t.Errorf("stopped again: %d, %s", r.code, r.stderr)
		}
		if r := d.run("", "bulk", "stop", "nonsense"); r.code != exitUsage {
			t.Errorf("nonsense: %d, %s", r.code, r.stderr)
		}
		if r := d.run("", "bulk", "stop", "00000000-0000-0000-0000-000000000001"); r.code != exitFailure || !strings.Contains(r.stderr, "not found") {
			t.Errorf("unknown: %d, %s", r.code, r.stderr)
		}
		if out := d.must("", "bulk", "ls"); !strings.Contains(out, all[0].ID.String()) || !strings.Contains(out, "stopped") || !strings.Contains(out, "failed messages of topic t") {
			t.Errorf("ls:\n%s", out)
		}
	})
}

// D-411: workers of two processes work off an act together, and what one leaves that is killed in
// the middle the other does: every message once.
func TestBulkKilledWorker(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		t.Parallel()
		const n = 60
		d.failingN(n)
		d.must("", "retry", "--all", "--rate", "20")
		work := []string{"work", "--queue", "elsewhere", "--topic", "t", "--exec", "true"}
		victim, heir := d.process(work...), d.process(work...)
		eventually(t, "the act is worked on", func() bool { return d.bulks()[0].Changed > 0 })
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		victim.wait()
		eventually(t, "the act is done", func() bool { return d.bulks()[0].Status == acts.Done })
		if err := heir.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		heir.wait()
		b := d.bulks()[0]
		if b.Changed != n || b.EndedAt.Sub(b.StartedAt).Seconds() < n/20-1 {
			t.Errorf("%+v", b)
		}
		var seen int
		for line := range strings.Lines(d.must("", "ls", "--ready", "--json", "--limit", "1000")) {
			var m view.Message
			decode(t, line, &m)
			if seen++; m.Redrives != 1 {
				t.Errorf("message %s was redriven %d times", m.ID, m.Redrives)
			}
		}
		if seen != n {
			t.Errorf("%d messages are ready", seen)
		}
	})
}
