//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is done to all stores is done to those that can be reached, and the others
// are told of.
func TestFleetPauses(t *testing.T) {
	dir, d := tenants(t)
	broken := "failed:\n  broken: cannot open sqlite:" + dir + "/broken.db: file is not a database (26); name a SQLite file, or a path without a file\npawl: 1 of 3 stores failed\n"
	want := func(r result, stdout string) {
		t.Helper()
		if r != (result{stdout, broken, exitFailure}) {
			t.Errorf("%+v; want %q", r, stdout)
		}
	}
	want(d.run("", "pauses"), "")
	want(d.run("", "pause", "topic", "t", "--actor", "alice"), "a  topic t paused\nb  topic t paused\n")
	want(d.run("", "resume", "topic", "t", "--store", ""), "a  topic t resumed\nb  topic t resumed\n")
	want(d.run("", "resume", "topic", "t"), "a  topic t was not paused\nb  topic t was not paused\n")
	want(d.run("", "pause", "queue", "q", "--json"), `{"store":"a","kind":"queue","name":"q","changed":true}`+"\n"+`{"store":"b","kind":"queue","name":"q","changed":true}`+"\n")

	if out := d.must("", "resume", "queue", "q", "--store", "a"); out != "queue q resumed\n" {
		t.Errorf("one store: %q", out)
	}
	r := d.run("", "pauses")
	if got := lines(r.stdout); r.code != exitFailure || r.stderr != broken || len(got) != 2 || !strings.HasPrefix(got[0], "STORE  KIND ") || !strings.HasPrefix(got[1], "b      queue  q ") {
		t.Errorf("%+v", r)
	}
	if out := d.must("", "pauses", "--store", "b"); strings.Contains(out, "STORE") || !strings.Contains(out, "queue  q") {
		t.Errorf("of one store:\n%s", out)
	}
	if r := d.run("", "pauses", "--json"); r.code != exitFailure || !strings.HasPrefix(r.stdout, `{"store":"b","kind":"queue",`) || len(lines(r.stdout)) != 1 {
		t.Errorf("%+v", r)
	}
	if r := d.run("", "pause", "topic", " "); r.code != exitUsage || len(lines(r.stderr)) != 1 {
		t.Errorf("a mistake is told once: %+v", r)
	}
	list := filepath.Join(dir, "list")
	if err := os.WriteFile(list, []byte("none sqlite:"+dir+"/none.db\nother mysql://u:secret@h/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = command(t.Context(), "", "workers", "--fleet", "list:"+list)
	if wanted := "failed:\n  none: no such file\n  other: unknown database scheme \"mysql\""; r.code != exitFailure || r.stdout != "" || !strings.HasPrefix(r.stderr, wanted) ||
		!strings.HasSuffix(r.stderr, "\npawl: 2 of 2 stores failed\n") || strings.Contains(r.stderr, "no workers") || strings.Contains(r.stderr, "secret") {
		t.Errorf("%+v", r)
	}
}

// A process that works on a fleet is listed in every store.
func TestFleetWorkers(t *testing.T) {
	dir, d := tenants(t)
	if err := os.Remove(filepath.Join(dir, "broken.db")); err != nil {
		t.Fatal(err)
	}
	if r := d.run("", "workers"); r != (result{stderr: "no workers\n"}) {
		t.Errorf("none: %+v", r)
	}
	p := d.process("work", "--topic", "t", "--exec", "cat")
	eventually(t, "both stores to list it", func() bool { return len(d.workers()) == 2 })
	for i, w := range d.workers() {
		if w.Store != []string{"a", "b"}[i] || w.PID != int64(p.Process.Pid) || !w.Shared || !w.Alive {
			t.Errorf("%+v", w)
		}
	}
	out := d.must("", "workers")
	if got := lines(out); len(got) != 3 || !strings.HasPrefix(got[0], "STORE  WORKER ") || !strings.HasPrefix(got[2], "b ") || !strings.Contains(got[2], "shared") {
		t.Errorf("%s", out)
	}
	if one := d.workers("--store", "b"); len(one) != 1 || one[0].Store != "" {
		t.Errorf("of one store: %+v", one)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
}

// ofOneStore are commands that are about a database, with what they say of one that
// has a message of topic t.
var ofOneStore = []struct {
	args []string
	want string
}{
	{[]string{"ls"}, "ready"},
	{[]string{"ls", "--counts"}, "ready"},
	{[]string{"show", "1", "--payload"}, "for b"},
	{[]string{"retry", "--all"}, "retried 0 messages"},
	{[]string{"discard", "--all", "--dry-run"}, "would have discarded 0 messages"},
	{[]string{"reschedule", "1", "--due", "1h"}, "rescheduled 1 message"},
	{[]string{"cancel", "1"}, "cancelled 1 message"},
	{[]string{"explain", "1"}, "discarded"},
	{[]string{"audit"}, "message 1"},
	{[]string{"enqueue", "--topic", "t"}, "-"},
	{[]string{"work", "--topic", "t", "--exec", "cat", "--drain", "--quiet"}, "stdin"},
	{[]string{"joins", "ls"}, "no joins"},
	{[]string{"timers", "add", "--topic", "t", "--due", "1h"}, "-"},
	{[]string{"timers", "ls"}, "scheduled"},
	{[]string{"jobs", "put", "n", "--topic", "t", "--schedule", "@daily"}, "n  enabled"},
	{[]string{"jobs", "ls"}, "@daily"},
	{[]string{"inbox", "ls"}, "no messages"},
	{[]string{"leases", "ls"}, "no leases"},
	{[]string{"lease", "run", "n", "--", "echo", "held"}, "held"},
	{[]string{"migrate"}, "is up to date"},
}

// Any command is about one store of a fleet, and only about that.
func TestStoreOfAFleet(t *testing.T) {
	dir, d := tenants(t)
	all := d.flags
	for _, c := range ofOneStore {
		d.flags = []string{all[0], "--store=b"}
		if r := d.run("stdin", c.args...); r.code != exitOK || !strings.Contains(r.stdout+r.stderr, c.want) {
			t.Errorf("%q: %+v; want %q", c.args, r, c.want)
		}
		d.flags[1] = "--store=none\x1b"
		if r := d.run("stdin", c.args...); r.code != exitFailure || r.stdout != "" || r.stderr != `pawl: unknown store: "none\x1b" is not in dir:`+dir+"/*.db\n" {
			t.Errorf("unknown store, %q: %+v", c.args, r)
		}
		d.flags[1] = "--store=broken"
		if r := d.run("stdin", c.args...); r.code != exitFailure || !strings.Contains(r.stderr, "broken.db: file is not a database") {
			t.Errorf("broken store, %q: %+v", c.args, r)
		}
		if c.args[0] == "work" || c.args[0] == "migrate" {
			continue // they take fleets
		}
		d.flags = all
		if r := d.run("stdin", c.args...); r.code != exitUsage || !strings.Contains(r.stderr, "name a store of the fleet with --store") {
			t.Errorf("no store, %q: %+v", c.args, r)
		}
	}
	d.flags = []string{all[0], "--store=a"}
	if out := d.must("", "work", "--topic", "t", "--exec", "cat", "--drain", "--quiet"); out != "for a\n" {
		t.Errorf("the other store: %q", out)
	}
	if r := d.run("", "audit"); r.stderr != "nothing was done\n" {
		t.Errorf("the other store: %+v", r)
	}
	for _, command := range []string{"health", "doctor"} { // they take fleets, too
		if out := d.must("", command, "--json"); len(lines(out)) != 1 || !strings.Contains(out, `"database":"sqlite:`+dir+`/a.db"`) {
			t.Errorf("%s of one store: %s", command, out)
		}
	}
}

// A file that a list names is made by migrating, not by enqueueing.
func TestStoreWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "list")
	if err := os.WriteFile(list, []byte("new sqlite:"+dir+"/new.db\ntwo sqlite:a.db\ntwo sqlite:b.db\nodd mysql://u:secret@h/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &database{t, []string{"--fleet=list:" + list}}
	for _, args := range [][]string{{"ls"}, {"enqueue", "--topic", "t"}, {"work", "--topic", "t", "--exec", "cat", "--drain"}} {
		if r := d.run("x", append(args, "--store=new")...); r.code != exitFailure || r.stderr != "pawl: sqlite:"+dir+"/new.db: no such file\n" {
			t.Errorf("%q: %+v", args, r)
		}
	}
	for key, want := range map[string]string{"two": "two different databases", "odd": `unknown database scheme "mysql"`} {
		if r := d.run("", "ls", "--store", key); r.code != exitFailure || !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "secret") {
			t.Errorf("%s: %+v", key, r)
		}
	}
	d.must("x", "enqueue", "--topic", "t", "--store=new", "--migrate")
	if out := d.must("", "show", "1", "--payload", "--store=new"); out != "x" {
		t.Errorf("%q", out)
	}
}

func TestFleetOptions(t *testing.T) {
	dir, _ := tenants(t)
	fleet, db := "dir:"+dir, "sqlite:"+filepath.Join(dir, "a.db")
	for _, c := range []struct {
		env  map[string]string
		args []string
		code int
		want string
	}{
		{nil, []string{"ls", "--store", "a"}, exitUsage, "--store goes with --fleet"},
		{nil, []string{"ls", "--fleet-query", "SELECT 1"}, exitUsage, "--fleet-query goes with --fleet"},
		{nil, []string{"ls", "--db", db, "--fleet", fleet, "--store", "a"}, exitUsage, "--db and --fleet"},
		{nil, []string{"fleet", "ls", "--fleet", fleet, "--store", "a"}, exitUsage, "--store: this command is about all stores"},
		{nil, []string{"fleet", "status", "--fleet", fleet, "--store", "a"}, exitUsage, "--store: this command is about all stores"},
		{nil, []string{"ls", "--fleet", "dir:", "--store", "a"}, exitUsage, "fleet without a place"},
		{nil, []string{"pause", "topic", "t", "--fleet", "dir:" + dir + "/none-*"}, exitFailure, "lists no store"},
		{nil, []string{"pauses", "--fleet", "list:" + dir + "/none"}, exitFailure, "no such file"},
		// On the command line a database goes before a fleet of the environment.
		{map[string]string{"PAWL_FLEET": fleet}, []string{"ls"}, exitUsage, "name a store of the fleet with --store"},
		{map[string]string{"PAWL_FLEET": fleet}, []string{"show", "1", "--db", db}, exitOK, "for a"},
		{map[string]string{"PAWL_FLEET": fleet, "PAWL_STORE": "b"}, []string{"show", "1", "--db", db}, exitOK, "for a"},
		{map[string]string{"PAWL_FLEET": fleet}, []string{"ls", "--db", db, "--store", "b"}, exitUsage, "--store goes with --fleet"},
		{map[string]string{"PAWL_FLEET": fleet, "PAWL_DB": db}, []string{"show", "1", "--store", "b"}, exitOK, "for b"},
		{map[string]string{"PAWL_FLEET": fleet, "PAWL_STORE": "a"}, []string{"show", "1"}, exitOK, "for a"},
		{map[string]string{"PAWL_FLEET": fleet, "PAWL_STORE": "a"}, []string{"show", "1", "--store", "b"}, exitOK, "for b"},
		// Of what a handler of a fleet inherits.
		{map[string]string{"PAWL_DB": db, "PAWL_STORE": "b"}, []string{"show", "1"}, exitOK, "for a"},
		{map[string]string{"PAWL_FLEET": fleet, "PAWL_STORE": "b"}, []string{"fleet", "ls"}, exitOK, "broken"},
		{map[string]string{"PAWL_FLEET": "table:" + db, "PAWL_FLEET_QUERY": "SELECT 'k', '" + db + "'"}, []string{"show", "1", "--store", "k"}, exitOK, "for a"},
		{map[string]string{"PAWL_DB": db, "PAWL_FLEET_QUERY": "SELECT 1"}, []string{"show", "1"}, exitOK, "for a"},
		{map[string]string{"PAWL_DB": db, "PAWL_RETRY_ALL": "true", "PAWL_RETRY_DRY_RUN": "true"}, []string{"retry"}, exitOK, "would have retried 0 messages"},
		{map[string]string{"PAWL_DB": db, "PAWL_AUDIT_LIMIT": "0"}, []string{"audit"}, exitUsage, "--limit"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			if r := command(t.Context(), "", c.args...); r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.want) {
				t.Errorf("%v: %+v; want %d and %q", c.env, r, c.code, c.want)
			}
		})
	}
}
