//go:build linux || darwin

package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/test/testpg"
)

// D-296: the program harms processes of its own in a place of its own, and leaves nothing.
// D-835: flows are counted.
func TestProgram(t *testing.T) {
	for engine, where := range map[string][]string{"sqlite": {"-engine", "sqlite", "-flows", "1"}, "postgres": {"-db", testpg.URL(t), "-rounds", "1"}} {
		t.Run(engine, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			var out strings.Builder
			args := append([]string{"-round", "4s", "-seed", "5", "-workers", "2", "-producers", "1", "-rewinds=false"}, where...)
			if err := command(t.Context(), &out, args); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if strings.Contains(out.String(), " 0 flows") {
				t.Error(out.String())
			}
			if !strings.Contains(out.String(), "seed 5") || !strings.Contains(out.String(), "0 violations") {
				t.Error(out.String())
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	if n := schemas(t); n != 0 {
		t.Errorf("%d schemas left behind", n)
	}
}

func schemas(t *testing.T) (n int) {
	conn, err := pgx.Connect(t.Context(), testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pawl_torture_%'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestProgramMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"-workers":      {"-workers", "0"},
		"-round":        {"-round", "1ms"},
		"no-such-fault": {"-engine", "sqlite", "-faults", "no-such-fault"},
		"allowed":       {"-faults", "server-kill", "-db", "postgres://nobody@127.0.0.1:1/none"},
		"-plan":         {"-plan", file},
		"-db":           {"-db", "sqlserver://nobody@127.0.0.1?database=none"},
		"names no":      {"-engine", "sqlserver"},
		"wrong usage":   {"and", "more"},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv(sqlServer, "")
		if err := command(t.Context(), io.Discard, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", args, err, want)
		}
	}
}

// D-840: a SQL Server is the one that the environment names, in either form: here one that does not answer. What is not
// done to it is said.
func TestProgramOnSQLServer(t *testing.T) {
	for _, server := range []string{"sqlserver://sa:geheim@127.0.0.1:1?database=d", "Server=127.0.0.1,1;Database=d;User Id=sa;Password=geheim"} {
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv(sqlServer, server)
		var out strings.Builder
		err := command(t.Context(), &out, []string{"-engine", "sqlserver", "-rounds", "1", "-round", "1s"})
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error()+out.String(), "geheim") {
			t.Errorf("%v\n%s", err, out.String())
		}
		if !strings.Contains(out.String(), "sqlserver: -engine sqlserver -seed ") || !strings.Contains(out.String(), "not among the faults") {
			t.Error(out.String())
		}
	}
}

// D-840: on SQL Server processes and their connections are harmed, and sessions of the program's own lock rows: what
// needs statements of another engine, or the server itself, is left out.
func TestFaultsOnSQLServer(t *testing.T) {
	o := Options{URL: "sqlserver://sa@127.0.0.1:1?database=d", Rewinds: true}
	o.defaults()
	s, err := o.sets()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range s.plain {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	const want = "black-hole black-hole-open cut cut-after-commit cut-after-select cut-before-commit deadlock delay kill kill-all long-reader migrate partition stop stop-briefly term truncate"
	if got := strings.Join(names, " "); got != want || len(s.rewinds) > 0 {
		t.Errorf("faults are %s\nwant %s", got, want)
	}
	rounds, err := o.rounds()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 * every {
		if r := rounds(n + 1); r.pooled || r.subject != "" {
			t.Errorf("round %d is behind a pooler, or about %q", n+1, r.subject)
		}
	}
}
