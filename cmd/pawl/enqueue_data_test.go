package main

import (
	"strings"
	"testing"
)

// D-737: --data is one payload as it is written, whatever standard input has.
func TestEnqueueData(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		for _, c := range []struct {
			stdin string
			args  []string
			want  string
		}{
			{"not read\n", []string{"--data", "two\nlines"}, "two\nlines"},
			{"not read\n", []string{"--data", ""}, ""},
			{"not read\n", []string{"--data", `{"n":1}`, "--format", "whole", "--key", "k"}, `{"n":1}`},
			{"all\nof it\n", []string{"--data", "-"}, "all\nof it\n"},
		} {
			id := strings.TrimSpace(d.must(c.stdin, append([]string{"enqueue", "--topic", "t"}, c.args...)...))
			if len(lines(id)) != 1 {
				t.Fatalf("%q: %q", c.args, id)
			}
			if got := d.must("", "show", id, "--payload"); got != c.want {
				t.Errorf("%q: %q, want %q", c.args, got, c.want)
			}
		}
	})
}

// D-737: what says otherwise what the payload is contradicts --data.
func TestEnqueueDataMistakes(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--data", "canary"}, exitUsage, "--data wants a --topic"},
		{[]string{"--topic", "t", "--data", "canary", "file"}, exitUsage, "--data and a file"},
		{[]string{"--topic", "t", "--data", "canary", "-"}, exitUsage, "--data and a file"},
		{[]string{"--topic", "t", "--data", "canary", "--format", "raw"}, exitUsage, "--data is one payload: leave --format=raw out"},
		{[]string{"--topic", "t", "--data", "canary", "--format", "envelope"}, exitUsage, "leave --format=envelope out"},
		{[]string{"--topic", "t", "--data", "canary", "--max-payload", "5"}, exitFailure, "--data: invalid argument: payload: more than 5 bytes"},
	} {
		r := d.run("x\n", append([]string{"enqueue"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "canary") || len(lines(r.stderr)) != 1 {
			t.Errorf("%q: %+v, want %q", c.args, r, c.want)
		}
	}
	if out := d.must("", "ls"); strings.Contains(out, "ready") {
		t.Errorf("stored after all: %s", out)
	}
}
