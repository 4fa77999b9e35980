package main

import (
	"fmt"
	"strings"
	"testing"
)

// numbered is n lines.
func numbered(n int) string {
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "%d\n", i)
	}
	return in.String()
}

// stored is how many messages are ready.
func (d *database) stored() int {
	d.t.Helper()
	return len(lines(d.must("", "ls", "--ready", "--limit", "10000", "--json")))
}

// Input is stored batch by batch. What was stored when something went wrong stays, and is said; with --atomic nothing is.
func TestEnqueueInBatches(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if out := lines(d.must(numbered(2500), "enqueue", "--topic", "t")); len(out) != 2500 || d.stored() != 2500 {
			t.Errorf("%d ids, %d stored", len(out), d.stored())
		}
		torn := strings.Repeat(`{"topic":"t","payload":"x"}`+"\n", 2300) + "{\n" + `{"topic":"t","payload":"x"}` + "\n"
		r := d.run(torn, "enqueue")
		if r.code != exitFailure || len(lines(r.stdout)) != 2000 || !strings.Contains(r.stderr, "line 2301: ") || !strings.Contains(r.stderr, "; lines 1 to 2000 are enqueued (2000 messages)") || d.stored() != 4500 {
			t.Errorf("%d, %d ids, %d stored: %s", r.code, len(lines(r.stdout)), d.stored(), r.stderr)
		}
		r = d.run(torn, "enqueue", "--atomic")
		if r.code != exitFailure || r.stdout != "" || !strings.Contains(r.stderr, "line 2301: ") || !strings.Contains(r.stderr, "; nothing was enqueued") || d.stored() != 4500 {
			t.Errorf("atomic: %d, %d stored: %s", r.code, d.stored(), r.stderr)
		}
		if out := lines(d.must(numbered(1500), "enqueue", "--topic", "t", "--atomic")); len(out) != 1500 {
			t.Errorf("atomic: %d ids", len(out))
		}
	})
}

// An empty input is said to be empty, so that a pipe that broke is noticed.
func TestEnqueueNothing(t *testing.T) {
	d := onSQLite(t)
	for _, args := range [][]string{{"--topic", "t"}, {}, {"--atomic"}, {"--json"}} {
		r := d.run("", append([]string{"enqueue"}, args...)...)
		if r.code != exitOK || r.stdout != "" || r.stderr != "standard input is empty: nothing was enqueued\n" {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
