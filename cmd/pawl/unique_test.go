package main

import (
	"strings"
	"testing"
)

// D-212: a duplicate has the id of the earlier message, and is said to be one.
func TestEnqueueUnique(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		enqueue := func(args ...string) result {
			t.Helper()
			r := d.run("x", append([]string{"enqueue", "--topic", "t", "--format", "whole"}, args...)...)
			if r.code != exitOK {
				t.Fatalf("%q: %+v", args, r)
			}
			return r
		}
		first := enqueue("--unique", "k")
		again := enqueue("--unique", "k", "--unique-scope", "not-begun")
		if again.stdout != first.stdout || first.stderr != "" || again.stderr != "1 message not enqueued: an earlier one has the unique key\n" {
			t.Errorf("first %+v, then %+v", first, again)
		}
		id := strings.TrimSpace(first.stdout)
		if r := enqueue("--unique", "k", "--unique-for", "1h", "--json"); r.stdout != `{"message_id":"`+id+`","topic":"t","duplicate":true}`+"\n" {
			t.Errorf("as JSON: %+v", r)
		}
		if r := enqueue("--unique", "k", "--replace", "--json"); strings.Contains(r.stdout, id) || strings.Contains(r.stdout, "duplicate") {
			t.Errorf("replaced: %+v", r)
		}
		if r := enqueue("--unique", "k", "--debounce", "--due", "1h"); r.stderr == "" || d.must("", "ls", "--ready") != "" {
			t.Errorf("moved: %+v", r)
		}
		for _, args := range [][]string{{"--replace"}, {"--debounce"}, {"--unique-for", "1h"}, {"--unique-scope", "not-begun"}} {
			r := d.run("x", append([]string{"enqueue", "--topic", "t"}, args...)...)
			if r.code == exitOK || !strings.Contains(r.stderr, "want --unique") {
				t.Errorf("%q: %+v", args, r)
			}
		}
	})
}
