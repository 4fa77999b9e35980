//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/join"
)

// D-735: one process runs a command of its own for each topic and pattern, by the rules of --exec.
func TestWorkOnRunsACommandForEachTopic(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		for _, topic := range []string{"mail", "backup.db", "backup.files", "else"} {
			d.must(topic+"-1\n", "enqueue", "--topic", topic)
		}
		r := d.run("", "work", "--drain", "--quiet",
			"--on", `mail=X=mail; echo "$X=$PAWL_TOPIC=$(cat)"`,
			"--on", `backup.*=echo "$PAWL_TOPIC is full" >&2; exit 65`,
			"--on", `backup.db=echo "copy $(cat)"`)
		got := lines(r.stdout)
		slices.Sort(got)
		if want := []string{"copy backup.db-1", "mail=mail=mail-1"}; r.code != exitLeft || !slices.Equal(got, want) {
			t.Fatalf("%+v, want %q", r, want)
		}
		for topic, status := range map[string]string{"mail": "done", "backup.db": "done", "backup.files": "failed"} {
			if out := d.must("", "ls", "--topic", topic, "--status", status, "--json"); len(lines(out)) != 1 || out == "" {
				t.Errorf("%s is not %s: %q", topic, status, out)
			}
		}
		if out := d.must("", "ls", "--topic", "else", "--done", "--json"); out != "" {
			t.Errorf("done without a command: %s", out)
		}
	})
}

// D-735: a command that cannot be run stops the worker whatever the others do.
func TestWorkOnWithACommandThatIsNotFound(t *testing.T) {
	d := onSQLite(t)
	d.must("x", "enqueue", "--topic", "b")
	if r := d.run("", "work", "--on", "a=cat", "--on", "b=no-such-command-here"); r.code != exitNoCommand {
		t.Errorf("%+v", r)
	}
	if out := d.must("", "work", "--on", "a=false", "--on", "b=cat", "--drain", "--quiet"); out != "x\n" {
		t.Errorf("the message after it: %q", out)
	}
}

// D-735: the stores of a fleet are served by the same commands.
func TestWorkOnServesAFleet(t *testing.T) {
	_, d := tenants(t)
	d.must("for b", "enqueue", "--topic", "u", "--store", "b")
	r := d.run("", "work", "--on", `t=echo "t $PAWL_STORE"`, "--on", `u=echo "u $PAWL_STORE"`, "--drain", "--quiet")
	got := lines(r.stdout)
	slices.Sort(got)
	if want := []string{"t a", "t b", "u b"}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %q", r, want)
	}
}

// D-736: mistakes in --on are said, without the command, which may hold a secret.
func TestWorkOnMistakes(t *testing.T) {
	d := onSQLite(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "want --on TOPIC=COMMAND"},
		{[]string{"--on", "a=cat", "--on", "canary"}, "--on: number 2 has no =: want TOPIC=COMMAND"},
		{[]string{"--on", "=canary"}, "topic: empty"},
		{[]string{"--on", "a= "}, `--on: "a" has no command`},
		{[]string{"--on", "a=cat", "--on", "a=canary"}, `--on: "a" twice`},
		{[]string{"--on", join.DefaultTopic + "=canary"}, "pawl's own"},
		{[]string{"--on", "a=canary", "--exec", "cat"}, "--exec and --on can't be used together"},
		{[]string{"--on", "a=canary", "--topic", "b"}, "--topic and --on can't be used together"},
		{[]string{"--on", "a=canary", "--webhook", "https://example.com"}, "can't be used together"},
		{[]string{"--exec", "cat"}, "--topic"},
		{[]string{"--topic", "t", "--exec", " "}, `--topic: "t" has no command`},
	} {
		r := d.run("", append([]string{"work", "--drain"}, c.args...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "canary") || len(lines(r.stderr)) != 1 {
			t.Errorf("%q: %+v, want %q", c.args, r, c.want)
		}
	}
}
