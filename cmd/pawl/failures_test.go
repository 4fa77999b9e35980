package main

import (
	"strings"
	"testing"
)

// D-591: failed messages are grouped, and what a group is called chooses them.
func TestFailures(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if r := d.run("", "failures"); r != (result{stderr: "nothing has failed\n"}) {
			t.Errorf("none: %+v", r)
		}
		d.failing(`{"topic":"t","payload":"refused 1"}`, `{"topic":"t","payload":"refused 22"}`, `{"topic":"u","payload":"refused 3"}`)
		var all []failureJSON
		for line := range strings.Lines(d.must("", "failures", "--json")) {
			var f failureJSON
			decode(t, line, &f)
			all = append(all, f)
		}
		if len(all) != 2 || all[0].Topic != "t" || all[0].Count != 2 || all[1].Count != 1 || all[0].LastAt.Before(all[0].FirstAt) {
			t.Fatalf("%+v", all)
		}
		kind := all[0].Fingerprint
		if out := d.must("", "failures", "--topic", "u"); !strings.Contains(out, kind) || strings.Count(out, "\n") != 2 {
			t.Errorf("%q", out)
		}
		if out := d.must("", "ls", "--failed", "--fingerprint", kind, "-o", "id"); strings.Count(out, "\n") != 3 {
			t.Errorf("%q", out)
		}
		if out := d.must("", "retry", "--all", "--topic", "t", "--fingerprint", kind); out != "retried 2 messages\n" {
			t.Errorf("%q", out)
		}
	})
}
