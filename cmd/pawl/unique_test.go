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

// D-212: show prints the key of a message.
func TestShowUnique(t *testing.T) {
	d := onSQLite(t)
	enqueue := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(d.must("x", append([]string{"enqueue", "--topic", "t"}, args...)...))
	}
	plain, keyed := enqueue(), enqueue("--unique", "k 1", "--unique-for", "1h")
	if out := d.must("", "show", keyed); !strings.Contains(out, "unique key    k 1\n") || !strings.Contains(out, "unique until  ") {
		t.Errorf("with a key:\n%s", out)
	}
	if out := d.must("", "show", keyed, "--json"); !strings.Contains(out, `"unique_key":"k 1"`) || !strings.Contains(out, `"unique_until":"`) {
		t.Errorf("as JSON: %s", out)
	}
	for _, args := range [][]string{{"show", plain}, {"show", plain, "--json"}} {
		if out := d.must("", args...); strings.Contains(out, "unique") {
			t.Errorf("without a key:\n%s", out)
		}
	}
}
