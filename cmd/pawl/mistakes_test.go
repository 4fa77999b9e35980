//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/nobody"
	_ "modernc.org/sqlite" // to spoil a file
)

// Each mistake gets one clear line, an exit code, and leaves nothing behind.
func TestBadInputStoresNothing(t *testing.T) {
	long := strings.Repeat("é", 256)
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		for _, c := range []struct {
			name, stdin string
			args        []string
			code        int
			want        string
		}{
			{"empty topic", "x\n", []string{"--topic", ""}, exitUsage, "topic: empty or blank"},
			{"256 characters", "x\n", []string{"--topic", long}, exitUsage, "topic: more than 255 characters"},
			{"256 characters of correlation", "x\n", []string{"--topic", "t", "--correlation-id", long}, exitUsage, "correlation id: more than 255"},
			{"256 characters in a line", `{"topic":"a","payload":1}` + "\n" + `{"topic":"` + long + `","payload":1}`, nil, exitFailure, "line 2: invalid argument: topic: more than 255"},
			{"payload over the limit", "ok\n" + strings.Repeat("x", 1<<20+1), []string{"--topic", "t"}, exitFailure, "line 2: invalid argument: payload: more than 1048576 bytes"},
			{"unreadable JSON", `{"topic":"a","payload":1}` + "\n\n" + `{"topic":"a","payload":`, nil, exitFailure, "line 3: unreadable JSON"},
			{"plain lines without a topic", "hello\n", nil, exitFailure, "without --topic every line is a message as JSON"},
			{"raw without a topic", "hello\n", []string{"--format", "raw"}, exitUsage, "wants a --topic"},
			{"unknown format", "hello\n", []string{"--format", "xml"}, exitUsage, "--format must be one of"},
			{"key for two", "a\nb\n", []string{"--topic", "t", "--key", "k"}, exitFailure, "--key names one message"},
			{"bad due", "a\n", []string{"--topic", "t", "--due", "soon"}, exitUsage, "--due"},
			{"bad priority", "a\n", []string{"--topic", "t", "--priority", "101"}, exitUsage, "priority"},
			{"bad header", "a\n", []string{"--topic", "t", "--header", "x"}, exitUsage, "--header"},
			{"no such file", "", []string{"--topic", "t", "no-such-file"}, exitFailure, "no such file"},
			{"too much", "aaaaaaaa\nbbbbbbbb\n", []string{"--topic", "t", "--atomic", "--max-input", "10"}, exitFailure, "--max-input"},
		} {
			r := d.run(c.stdin, append([]string{"enqueue"}, c.args...)...)
			if r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" || len(lines(r.stderr)) != 1 {
				t.Errorf("%s: %+v; want %d and %q", c.name, r, c.code, c.want)
			}
		}
		if out := d.must("", "ls", "--json"); out != "" {
			t.Errorf("stored after all: %s", out)
		}
	})
}

// D-450: a command that is not right says why; an empty option or a number that is none does not mean all.
// D-714: work names the options that say what it serves.
func TestBadCommands(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("x", "enqueue", "--topic", "t", "--key", "6ba7b814-9dad-11d1-80b4-00c04fd430c8")
		for _, c := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"frobnicate"}, exitUsage, "frobnicate"},
			{[]string{"work"}, exitUsage, "want --on TOPIC=COMMAND, or --topic TOPIC with --exec COMMAND or --webhook URL"},
			{[]string{"work", "--topic", "t"}, exitUsage, "want --on TOPIC=COMMAND, or --topic"},
			{[]string{"work", "--exec", "cat"}, exitUsage, "want --on TOPIC=COMMAND, or --topic"},
			{[]string{"work", "--on", "t=cat", "--topic", "t"}, exitUsage, "can't be used together"},
			{[]string{"work", "--on", "t=cat", "--webhook", "https://x.example"}, exitUsage, "can't be used together"},
			{[]string{"work", "--topic", "", "--exec", "cat"}, exitUsage, "topic: empty"},
			{[]string{"work", "--topic", "t", "--exec", "cat", "--lease", "1ms"}, exitUsage, "--lease"},
			{[]string{"work", "--topic", "t", "--topic", "t", "--exec", "cat", "--drain"}, exitUsage, `"t" twice`},
			{[]string{"ls", "--failed", "--done"}, exitUsage, "can't be used together"},
			{[]string{"ls", "--status", "lost"}, exitUsage, "--status"},
			{[]string{"ls", "--limit", "0"}, exitUsage, "--limit"},
			{[]string{"ls", "--before", "2131-01-31T12:00:00Z"}, exitUsage, "--since and --before: not in the past"},
			{[]string{"ls", "--since", "now"}, exitUsage, "--since and --before: not in the past"},
			{[]string{"ls", "--before", "2h", "--since", "1h"}, exitUsage, "--before is not after --since"},
			{[]string{"ls", "--header", "x"}, exitUsage, "want NAME=VALUE"},
			{[]string{"ls", "--header", "=x"}, exitUsage, "header name: empty or blank"},
			{[]string{"ls", "--counts", "--topic", "mail"}, exitUsage, "--counts counts all messages"},
			{[]string{"ls", "--counts", "--queue", "mail"}, exitUsage, "--counts counts all messages"},
			{[]string{"ls", "--counts", "--header", "a=b"}, exitUsage, "--counts counts all messages"},
			{[]string{"ls", "--counts", "--failed"}, exitUsage, "--counts counts all messages"},
			{[]string{"ls", "--counts", "--status", "done"}, exitUsage, "--counts counts all messages"},
			{[]string{"ls", "--counts", "--after", "7"}, exitUsage, "--counts counts all messages"},
			{[]string{"show", "zz"}, exitUsage, "neither a UUID nor a position"},
			{[]string{"show", "999999"}, exitFailure, "not found: 999999"},
			{[]string{"retry"}, exitUsage, "ids or --all"},
			{[]string{"retry", "1", "--all"}, exitUsage, "ids or --all"},
			{[]string{"retry", "1", "--topic", "t"}, exitUsage, "go with --all"},
			{[]string{"retry", "--all", "--limit", "0"}, exitUsage, "--limit: less than 1"},
			{[]string{"discard", "--all", "--limit", "0"}, exitUsage, "--limit: less than 1"},
			{[]string{"discard", "--all", "--limit=-1"}, exitUsage, "--limit: less than 1"},
			{[]string{"discard", "--all", "--limit="}, exitUsage, "--limit"},
			{[]string{"discard", "--all", "--limit=1.5"}, exitUsage, "--limit"},
			{[]string{"discard", "--all", "--topic="}, exitUsage, "--topic: empty"},
			{[]string{"discard", "--all", "--queue", ""}, exitUsage, "--queue: empty"},
			{[]string{"discard", "--all", "--error="}, exitUsage, "--error: empty"},
			{[]string{"retry", "--all", "--since="}, exitUsage, `--since: "": want a time like`},
			{[]string{"retry", "--all", "--before", ""}, exitUsage, `--before: "": want a time like`},
			{[]string{"retry", "--all", "--rate", "0"}, exitUsage, "--rate: less than 1"},
			{[]string{"retry", "1", "--limit", "1"}, exitUsage, "go with --all"},
			{[]string{"cancel", "6ba7b814-9dad-11d1-80b4-00c04fd430c8", "999999"}, exitFailure, "message not found: 999999 (or it was cleaned up); nothing was changed"},
			{[]string{"retry", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"}, exitFailure, "is ready, not failed"},
			{[]string{"joins"}, exitUsage, `(see "pawl joins --help")`},
			{[]string{"joins", "ls", "--status", "lost"}, exitUsage, "--status: want pending"},
			{[]string{"joins", "ls", "--limit", "10001"}, exitUsage, "--limit"},
			{[]string{"joins", "ls", "--after", "7"}, exitUsage, `--after: "7" is not the id of a join`},
			{[]string{"joins", "show", "zz"}, exitUsage, `(see "pawl joins show --help")`},
			{[]string{"joins", "show", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"}, exitFailure, "join not found: 6ba7b814-9dad-11d1-80b4-00c04fd430c8 (or it was cleaned up)"},
			{[]string{"joins", "show", "6ba7b814-9dad-11d1-80b4-00c04fd430c8", "--members", "-1"}, exitUsage, "--members"},
			{[]string{"joins", "cancel"}, exitUsage, "<id>"},
			{[]string{"joins", "cancel", "6ba7b814-9dad-11d1-80b4-00c04fd430c8", "zz"}, exitUsage, `"zz" is not the id`},
			{[]string{"joins", "cancel", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"}, exitFailure, "join not found: 6ba7b814-9dad-11d1-80b4-00c04fd430c8 (or"},
			{[]string{"inbox", "ls", "--status", "lost"}, exitUsage, "--status: want Seen"},
			{[]string{"inbox", "ls", "--status", "Dead", "--stuck"}, exitUsage, "can't be used together"},
			{[]string{"inbox", "ls", "--limit", "0"}, exitUsage, "--limit"},
			{[]string{"inbox", "ls", "--after", "x"}, exitUsage, "--after: want SOURCE/ID"},
			{[]string{"inbox", "ls", "--after", "x/%zz"}, exitUsage, "--after"},
			{[]string{"inbox", "ls", "--after", "x/"}, exitUsage, "message id: empty"},
			{[]string{"inbox", "show", "s"}, exitUsage, "<id>"},
			{[]string{"inbox", "show", "", "1"}, exitUsage, "source: empty"},
			{[]string{"inbox", "show", "s", "1"}, exitFailure, "message not found in the inbox: s/1 (or it was cleaned up)"},
			{[]string{"inbox", "revive", "s"}, exitUsage, "<id>"},
			{[]string{"inbox", "revive", "s", "1", strings.Repeat("é", 256)}, exitUsage, "message id: more than 255"},
			{[]string{"inbox", "revive", "s", "1", "2"}, exitFailure, "message not found in the inbox: s/1, s/2 (or"},
			{[]string{"leases", "ls", "--limit", "-1"}, exitUsage, "--limit"},
			{[]string{"leases", "release"}, exitUsage, "<name>"},
			{[]string{"leases", "release", "a", " "}, exitUsage, "name of a lease: empty or blank"},
			{[]string{"leases", "release", "a", "b"}, exitFailure, `lease not found: "a", "b"`},
			{[]string{"lease", "run"}, exitUsage, `(see "pawl lease run --help")`},
			{[]string{"lease", "run", "n"}, exitUsage, "<command>"},
			{[]string{"lease", "run", "n", "--"}, exitUsage, "a command is missing"},
			{[]string{"lease", "run", "", "--", "true"}, exitUsage, "name of a lease: empty"},
			{[]string{"lease", "run", "n", "--duration", "10ms", "--", "true"}, exitUsage, "--duration: shorter than a second"},
			{[]string{"lease", "run", "n", "--wait-timeout", "1s", "--", "true"}, exitUsage, "--wait-timeout goes with --wait"},
			{[]string{"lease", "run", "n", "--grace=-1s", "--", "true"}, exitUsage, "negative"},
			{[]string{"lease", "run", "n", "--", "no-such-command-here"}, exitNoCommand, `cannot run "no-such-command-here"`},
			{[]string{"lease", "run", "n", "--", "./no-such-command-here"}, exitNoCommand, "no such file"},
			{[]string{"lease", "run", "n", "--", os.TempDir()}, exitNoStart, "cannot run"},
			{[]string{"demo", "--runs", "0"}, exitUsage, "--runs"},
			{[]string{"discard", "00000000-9dad-11d1-80b4-00c04fd430c8"}, exitFailure, "(or it was cleaned up); nothing was changed"},
		} {
			if r := d.run("", c.args...); r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" {
				t.Errorf("%q: %+v; want %d and %q", c.args, r, c.code, c.want)
			}
		}
	})
}

// D-5: no password in any of these.
func TestBadDatabases(t *testing.T) {
	dir := t.TempDir()
	noDatabase := filepath.Join(dir, "text")
	if err := os.WriteFile(noDatabase, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		db   string
		code int
		want string
	}{
		{"mysql://u:secret@h/d", exitUsage, `unknown database scheme "mysql"`},
		{"://pawl.db", exitUsage, "without a scheme"},
		{"postgres://u:secret@127.0.0.1:1/d", exitFailure, "cannot reach postgres://u:xxxxx@127.0.0.1:1/d"},
		{"postgres://u:secret%zz@127.0.0.1:1/d", exitUsage, "cannot be read as a URL"},
		{"sqlite:" + filepath.Join(dir, "none", "x.db"), exitFailure, "no such directory"},
		{"sqlite:" + noDatabase, exitFailure, "not a database"},
		{"sqlite:" + dir, exitFailure, "cannot open"},
	} {
		for _, args := range [][]string{{"enqueue", "--topic", "t"}, {"migrate"}} {
			r := command(t.Context(), "x", append(args, "--db", c.db)...)
			if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "secret") || len(lines(r.stderr)) != 1 {
				t.Errorf("%s: %+v; want %d and %q", c.db, r, c.code, c.want)
			}
		}
	}
	if r := command(t.Context(), "", "ls", "--db", "sqlite:"+filepath.Join(dir, "new.db")); r.code != exitFailure || !strings.Contains(r.stderr, `does not exist: make it with "pawl migrate"`) {
		t.Errorf("ls without a file: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.db")); err == nil {
		t.Error("looking made a file")
	}
}

// D-100: a missing schema is said, and only made where nobody else's tables are.
func TestMissingSchema(t *testing.T) {
	d := onPostgres(t)
	for _, args := range [][]string{{"enqueue", "--topic", "t"}, {"work", "--topic", "t", "--exec", "cat"}, {"ls"}, {"show", "1"}, {"retry", "--all"}, {"joins", "ls"}, {"timers", "ls"}, {"timers", "add", "--topic", "t", "--due", "1s"}, {"jobs", "ls"}, {"jobs", "run", "n"}, {"inbox", "ls"}, {"leases", "ls"}, {"lease", "run", "n", "--", "true"}} {
		if r := d.run("x", args...); r.code != exitFailure || !strings.Contains(r.stderr, `run "pawl migrate"`) {
			t.Errorf("postgres %q: %+v", args, r)
		}
	}
	d.must("x", "enqueue", "--topic", "t", "--migrate")

	file := filepath.Join(t.TempDir(), "mine.db")
	spoil(t, file, `CREATE TABLE mine (id integer)`)
	d = &database{t, []string{"--db=sqlite:" + file}}
	if r := d.run("x", "enqueue", "--topic", "t"); r.code != exitFailure || !strings.Contains(r.stderr, `run "pawl migrate"`) {
		t.Errorf("sqlite: %+v", r)
	}
	if out := d.must("", "migrate"); !strings.Contains(out, "was migrated") {
		t.Errorf("migrate: %q", out)
	}
	if out := d.must("", "migrate"); !strings.Contains(out, "is up to date") {
		t.Errorf("migrate again: %q", out)
	}
	d.must("x", "enqueue", "--topic", "t")

	spoil(t, file, `INSERT INTO pawl_schema SELECT max(version) + 1, 'future', 'x', max(version) + 1, 0 FROM pawl_schema`)
	if r := d.run("x", "enqueue", "--topic", "t"); r.code != exitFailure || !strings.Contains(r.stderr, "too new") {
		t.Errorf("newer schema: %+v", r)
	}
}

func TestReadOnlyFile(t *testing.T) {
	d := onSQLite(t)
	d.must("x", "enqueue", "--topic", "t")
	file := strings.TrimPrefix(d.flags[0], "--db=sqlite:")
	d.flags = []string{"--db=sqlite:file:" + file + "?mode=ro"}
	if r := d.run("y", "enqueue", "--topic", "t"); r.code != exitFailure || !strings.Contains(r.stderr, "is read-only") {
		t.Errorf("opened to read: %+v", r)
	}
	if out := d.must("", "ls", "--json"); len(lines(out)) != 1 {
		t.Errorf("ls: %q", out)
	}
	if out := notOurs(t, file, "enqueue", "--topic", "t"); !strings.Contains(out, "read-only") && !strings.Contains(out, "cannot open") {
		t.Errorf("written: %s", out)
	}
}

// SQLite wants to make the files of its log for who only looks, too.
func TestLookingWithoutRights(t *testing.T) {
	d := onSQLite(t)
	d.must("x", "enqueue", "--topic", "t")
	file := strings.TrimPrefix(d.flags[0], "--db=sqlite:")
	if out := notOurs(t, file, "ls"); !strings.Contains(out, "read-only") {
		t.Errorf("listed: %s", out)
	}
	if out := notOurs(t, file, "doctor"); !strings.Contains(out, "problem  connection") || !strings.Contains(out, "the right to write the file and its directory") {
		t.Errorf("examined: %s", out)
	}
}

// notOurs runs a command that must fail as someone who may not write.
func notOurs(t *testing.T, file string, args ...string) string {
	t.Helper()
	// The directory above is private to whoever runs the test.
	for path, mode := range map[string]os.FileMode{file: 0o444, filepath.Dir(file): 0o555, filepath.Dir(filepath.Dir(file)): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(file), 0o700) })
	cmd := nobody.Command(t, append(args, "--db=sqlite:"+filepath.Base(file))...)
	cmd.Dir = filepath.Dir(file)
	cmd.Env = append(cmd.Env, asCommand+"=1")
	cmd.Stdin = strings.NewReader("z")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%q went well: %s", args, out)
	}
	return string(out)
}
