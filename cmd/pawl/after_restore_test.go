package main

import (
	"strings"
	"testing"
)

// D-111: the command begins a new generation, and leaves a note.
func TestAfterRestore(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		var first, second restoreResult
		decode(t, d.must("", "after-restore", "--json"), &first)
		decode(t, d.must("", "after-restore", "--json", "--actor", "alice"), &second)
		if first.Generation < 1 || second.Generation <= first.Generation {
			t.Errorf("generation %d after %d", second.Generation, first.Generation)
		}
		if out := d.must("", "after-restore"); !strings.Contains(out, " counts as restored: generation ") {
			t.Errorf("said %q", out)
		}
		if out := d.must("", "audit", "--action", "restore"); !strings.Contains(out, "alice") {
			t.Errorf("the audit trail has\n%s", out)
		}
		d.must("1\n", "enqueue", "--topic", "t")
		if out := d.must("", "ls"); len(lines(out)) != 2 {
			t.Errorf("listed\n%s", out)
		}
	})
}
