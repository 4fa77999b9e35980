//go:build unix

package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/testpg"
)

// tenants is a directory with two stores that hold a message each, and one that is
// no database.
func tenants(t *testing.T) (dir string, d *database) {
	t.Helper()
	dir = t.TempDir()
	for _, key := range []string{"a", "b"} {
		one := &database{t, []string{"--db=sqlite:" + filepath.Join(dir, key+".db")}}
		one.must("for "+key, "enqueue", "--topic", "t")
	}
	breakStore(t, dir)
	return dir, &database{t, []string{"--fleet=dir:" + dir}}
}

func breakStore(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "broken.db"), []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFleetOfADirectory(t *testing.T) {
	dir, d := tenants(t)
	out := d.must("", "fleet", "ls")
	if got := lines(out); len(got) != 4 || !strings.HasPrefix(got[1], "a       sqlite  sqlite:"+dir) || !strings.HasPrefix(got[3], "broken ") {
		t.Errorf("ls:\n%s", out)
	}
	wantStatus(t, d, "2 ready, 0 scheduled", "a ok 1", "b ok 1", "broken unreachable not a database")

	r := d.run("", "work", "--topic", "t", "--exec", `echo "$PAWL_STORE: $(cat)"`, "--drain")
	worked := lines(r.stdout)
	slices.Sort(worked)
	if r.code != exitFailure || !slices.Equal(worked, []string{"a: for a", "b: for b"}) {
		t.Errorf("work: %+v", r)
	}
	for _, want := range []string{"store=broken", "2 done, 0 retried", "1 of 3 stores could not be drained"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("work: no %q in\n%s", want, r.stderr)
		}
	}
	wantStatus(t, d, "0 ready, 0 scheduled", "a ok 0", "b ok 0", "broken unreachable not a database")

	if err := os.Remove(filepath.Join(dir, "broken.db")); err != nil {
		t.Fatal(err)
	}
	if r := d.run("", "work", "--topic", "t", "--exec", "cat", "--drain", "--quiet"); r != (result{}) {
		t.Errorf("nothing to do: %+v", r)
	}
}

// wantStatus wants a line for every store: key, state, what is ready or what is wrong.
func wantStatus(t *testing.T, d *database, summary string, want ...string) {
	t.Helper()
	r := d.run("", "fleet", "status", "--json")
	var got []string
	for _, line := range lines(r.stdout) {
		var s struct {
			Store, State, Error string
			Ready               *int64
		}
		decode(t, line, &s)
		text := s.Store + " " + s.State
		if s.Ready != nil {
			text += " " + number(*s.Ready)
		}
		if s.Error != "" {
			text += " " + s.Error
		}
		got = append(got, text)
	}
	if len(got) != len(want) || r.code != exitFailure || r.stderr != "" {
		t.Fatalf("status: %+v", r)
	}
	for i := range want {
		for _, word := range strings.Fields(want[i]) {
			if !strings.Contains(got[i], word) {
				t.Errorf("status: %q, want %q", got[i], want[i])
			}
		}
	}
	if r := d.run("", "fleet", "status"); r.code != exitFailure || !strings.Contains(r.stdout, "STATE") || !strings.Contains(r.stderr, summary) || len(lines(r.stderr)) != 1 {
		t.Errorf("status for people: %+v; want %q", r, summary)
	}
}

func TestFleetMigrate(t *testing.T) {
	dir := t.TempDir()
	d := &database{t, []string{"--fleet=dir:" + dir}}
	breakStore(t, dir)
	for _, key := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, key+".db"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := d.run("", "migrate", "--canary", "broken")
	if r.code != exitFailure || len(lines(r.stdout)) != 1 || !strings.Contains(r.stderr, `left alone: "broken": file is not a database`) {
		t.Errorf("canary: %+v", r)
	}
	wantStatus(t, d, "2 missing, 1 unreachable", "a missing", "b missing", "broken unreachable")

	r = d.run("", "migrate", "--parallel", "1")
	got := lines(r.stdout)
	if r.code != exitFailure || len(got) != 3 || !strings.HasPrefix(got[0], "a  ok, took ") || !strings.Contains(r.stdout, "broken  failed, took ") {
		t.Errorf("%+v", r)
	}
	if want := "  broken: file is not a database (26); name a SQLite file, or a path without a file\npawl: 1 of 3 stores could not be migrated\n"; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	wantStatus(t, d, "2 ok, 1 unreachable", "a ok 0", "b ok 0", "broken unreachable")

	d.flags = []string{"--fleet=dir:" + dir + "/[ab].db"}
	if out := d.must("", "migrate"); !strings.HasSuffix(out, "\n2 stores up to date\n") {
		t.Errorf("again: %q", out)
	}
	if out := d.must("", "migrate", "--json"); len(lines(out)) != 2 || !strings.Contains(out, `{"store":"a","ok":true,"seconds":`) {
		t.Errorf("JSON: %q", out)
	}
}

// What stands in a list is for people to mend: it is said of every store, and no
// file comes to be by looking. What can be served is.
func TestFleetOfAList(t *testing.T) {
	dir, _ := tenants(t)
	file := filepath.Join(dir, "stores")
	d := &database{t, []string{"--fleet=list:" + file}}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`# the tenants
a sqlite:DIR/a.db # the first
new sqlite:DIR/new.db - p_

other mysql://u:secret@h/d
torn sqlite:DIR/a.db
torn sqlite:DIR/b.db
`)
	if out := d.must("", "fleet", "ls", "--json"); len(lines(out)) != 4 || !strings.Contains(out, `"prefix":"p_"`) || strings.Contains(out, "secret") {
		t.Errorf("ls: %s", out)
	}
	wantStatus(t, d, "1 ok, 3 unreachable", "a ok 1", "new unreachable no such file", "other unreachable unknown database scheme", "torn unreachable two different databases")
	r := d.run("", "work", "--topic", "t", "--exec", "cat", "--drain", "--quiet")
	if r.code != exitFailure || r.stdout != "for a\n" || !strings.HasSuffix(r.stderr, "3 of 4 stores could not be drained\n") || strings.Contains(r.stderr, "secret") {
		t.Errorf("work: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.db")); err == nil {
		t.Error("looking and working made a file")
	}
	r = d.run("", "migrate")
	if r.code != exitFailure || !strings.Contains(r.stdout, "new  ok") || !strings.Contains(r.stderr, "2 of 4 stores") {
		t.Errorf("migrate: %+v", r)
	}
	write("a sqlite:DIR/a.db\nb postgres://u:secret@h/d pawl p_ more")
	if r := d.run("", "fleet", "ls"); r.code != exitFailure || !strings.Contains(r.stderr, "line 2: want KEY URL") || strings.Contains(r.stderr, "secret") {
		t.Errorf("bad line: %+v", r)
	}
	write("# none yet\n")
	if r := d.run("", "fleet", "ls"); r != (result{stderr: "no stores\n"}) {
		t.Errorf("ls of none: %+v", r)
	}
	if r := d.run("", "fleet", "status"); r.code != exitFailure || !strings.Contains(r.stderr, "lists no store") {
		t.Errorf("status of none: %+v", r)
	}
}

func TestFleetOfATable(t *testing.T) {
	dir, _ := tenants(t)
	control := filepath.Join(dir, "control")
	db, err := sql.Open("sqlite", control)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		`CREATE TABLE pawl_stores (key text, url text, schema text, prefix text)`,
		`INSERT INTO pawl_stores VALUES ('b', 'sqlite:` + filepath.Join(dir, "b.db") + `', NULL, NULL)`,
		`INSERT INTO pawl_stores VALUES ('pg', 'postgres://u:secret@h/d', 'tenant', 'p_')`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	d := &database{t, []string{"--fleet=table:sqlite:" + control}}
	if out := d.must("", "fleet", "ls"); len(lines(out)) != 3 || !strings.Contains(out, "postgres://u:xxxxx@h/d") || !strings.HasSuffix(d.must("", "fleet", "ls", "--fleet-query", "SELECT * FROM pawl_stores"), "  schema tenant, prefix p_\n") {
		t.Errorf("%s", out)
	}
	if out := d.must("", "fleet", "ls", "--json", "--fleet-query", "SELECT * FROM pawl_stores WHERE key = 'pg'"); !strings.Contains(out, `"schema":"tenant","prefix":"p_"`) {
		t.Errorf("all columns: %s", out)
	}
	if out := d.must("", "fleet", "ls", "--json", "--schema", "mine", "--prefix", "q_"); !strings.Contains(out, `"schema":"mine","prefix":"q_"`) || strings.Count(out, "mine") != 1 {
		t.Errorf("defaults: %s", out)
	}
	out := d.must("", "work", "--topic", "t", "--exec", "cat", "--drain", "--fleet-query", "SELECT key, url FROM pawl_stores WHERE key = 'b'")
	if out != "for b\n" {
		t.Errorf("work: %q", out)
	}
	var mode string
	if err := db.QueryRowContext(t.Context(), `PRAGMA journal_mode`).Scan(&mode); err != nil || mode != "delete" {
		t.Errorf("reading the table changed its database: %q, %v", mode, err)
	}
	if r := d.run("", "fleet", "ls", "--fleet-query", "DROP TABLE pawl_stores"); r.code != exitFailure || !strings.Contains(r.stderr, "control: ") {
		t.Errorf("a query that writes: %+v", r)
	}
}

func TestFleetOfATableOnAServer(t *testing.T) {
	d := &database{t, []string{"--fleet=table:" + testpg.URL(t)}}
	if out := d.must("", "fleet", "ls", "--json", "--fleet-query", "SELECT 'k', 'sqlite:x.db'"); out != `{"store":"k","engine":"sqlite","database":"sqlite:x.db"}`+"\n" {
		t.Errorf("%q", out)
	}
}

// A worker that is not to drain serves until it is told to stop. What waits for
// room among all commands by then is not begun.
func TestFleetWorkStops(t *testing.T) {
	_, d := tenants(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan result, 1)
	dir := t.TempDir()
	began, goOn := filepath.Join(dir, "began"), filepath.Join(dir, "go-on")
	go func() {
		done <- command(ctx, "", d.line([]string{"work", "--topic", "t", "-c", "1", "--exec", `echo >> "` + began + `"; while [ ! -e "` + goOn + `" ]; do sleep 0.01; done`})...)
	}()
	eventually(t, "one store to be served", func() bool { return read(t, began) != "" })
	stop()
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.code != exitOK || !strings.Contains(r.stderr, "1 done, 0 retried") || read(t, began) != "\n" {
		t.Errorf("%+v", r)
	}
	if r := d.run("", "fleet", "status"); !strings.Contains(r.stderr, "1 ready, 0 scheduled, 0 retrying, 0 running") {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestFleetWorkTimesOut(t *testing.T) {
	_, d := tenants(t)
	r := d.run("", "work", "--topic", "t", "-c", "1", "--timeout", "50ms", "--exec", "exec sleep 100", "--drain")
	if !regexp.MustCompile(`\b0 done, [2-9]\d* retried`).MatchString(r.stderr) { // the broken store may keep it long enough for a second try
		t.Errorf("%+v", r)
	}
}

func TestFleetMistakes(t *testing.T) {
	dir := t.TempDir()
	work := []string{"work", "--topic", "t", "--exec", "cat"}
	for _, c := range []struct {
		fleet string
		args  []string
		code  int
		want  string
	}{
		{"", []string{"fleet"}, exitUsage, `(see "pawl fleet --help")`},
		{"", []string{"fleet", "ls"}, exitUsage, "missing flags: --fleet=WHERE"},
		{"", []string{"fleet", "status"}, exitUsage, "missing flags: --fleet=WHERE"},
		{"", []string{"migrate", "--canary", "a"}, exitUsage, "--canary and --parallel go with --fleet"},
		{"", []string{"migrate", "--fleet-query", "SELECT 1"}, exitUsage, "--fleet-query goes with --fleet"},
		{"tenants", []string{"fleet", "ls"}, exitUsage, "fleet without a form"},
		{"dir:", []string{"fleet", "ls"}, exitUsage, "fleet without a place"},
		{"u:secret@h/d", []string{"fleet", "ls"}, exitUsage, `unknown form "u"`},
		{"dir:x/[", []string{"fleet", "ls"}, exitUsage, "syntax error in pattern"},
		{"table:mysql://u:secret@h/d", []string{"fleet", "ls"}, exitUsage, `unknown database scheme "mysql"`},
		{"table:sqlite:" + dir + "/none.db", []string{"fleet", "ls"}, exitFailure, "none.db: no such file"},
		{"table:postgres://u:secret@127.0.0.1:1/d", []string{"fleet", "ls"}, exitFailure, "postgres://u:xxxxx@127.0.0.1:1/d"},
		{"table:postgres://u:secret%zz@127.0.0.1:1/d", []string{"fleet", "ls"}, exitUsage, "cannot be read as a URL"},
		{"list:" + dir + "/none", []string{"fleet", "status"}, exitFailure, "no such file"},
		{"list:" + dir + "/none", []string{"fleet", "ls", "--fleet-query", "SELECT 1"}, exitUsage, "a query goes with table:URL"},
		{"dir:" + dir + "/none", work, exitFailure, "no such file"},
		{"dir:" + dir, work, exitFailure, "lists no store"},
		{"dir:" + dir, []string{"migrate"}, exitFailure, "lists no store"},
		{"dir:" + dir, []string{"migrate", "--parallel", "-1"}, exitUsage, "--parallel"},
		{"dir:" + dir, []string{"migrate", "--db", "sqlite:pawl.db"}, exitUsage, "--db and --fleet"},
		{"dir:" + dir, append(work, "--db", "sqlite:x.db"), exitUsage, "--db and --fleet"},
		{"dir:" + dir, append(work, "--topic", "t"), exitUsage, `"t" twice`},
		{"dir:" + dir, append(work, "--topic", "join.wait"), exitUsage, "pawl's own"},
		{"dir:" + dir, []string{"fleet", "ls", "--prefix", "a-b"}, exitUsage, "prefix"},
		{"dir:" + dir, []string{"fleet", "status", "--timeout", "0s"}, exitUsage, "--timeout"},
	} {
		args := slices.Clone(c.args)
		if c.fleet != "" {
			args = append(args, "--fleet", c.fleet)
		}
		r := command(t.Context(), "", args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" || strings.Contains(r.stderr, "secret") {
			t.Errorf("%q: %+v; want %d and %q", args, r, c.code, c.want)
		}
	}
}

// A database in the environment is that of other commands.
func TestFleetAndVariables(t *testing.T) {
	dir, _ := tenants(t)
	t.Setenv("PAWL_DB", "sqlite:"+filepath.Join(dir, "none.db"))
	t.Setenv("PAWL_FLEET", "dir:"+dir)
	if r := command(t.Context(), "", "fleet", "ls"); r.code != exitOK || len(lines(r.stdout)) != 4 {
		t.Errorf("%+v", r)
	}
}
