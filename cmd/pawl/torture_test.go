//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/torture"
)

// D-296: the command tortures processes of its own in a place of its own, and leaves nothing.
func TestTorture(t *testing.T) {
	for _, db := range []string{"sqlite:ignored.db", testpg.URL(t)} {
		t.Run(strings.SplitN(db, ":", 2)[0], func(t *testing.T) {
			t.Setenv(asCommand, "1") // for the processes
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			r := command(t.Context(), "", "torture", "--db", db, "--json", "--duration", "1ns", "--round", "4s", "--seed", "5", "--workers", "2", "--producers", "1")
			if r.code != exitOK {
				t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			var found torture.RoundReport
			decode(t, r.stdout, &found)
			if found.Seed != 5 || found.Faults == 0 || found.Messages == 0 || found.Subject != "" {
				t.Errorf("%+v", found)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	if n := tortureSchemas(t); n != 0 {
		t.Errorf("%d schemas left behind", n)
	}
}

func tortureSchemas(t *testing.T) (n int) {
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

func TestTortureMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--workers", "0"}, exitUsage, "--workers"},
		{[]string{"--round", "1ms"}, exitUsage, "--round"},
		{[]string{"--faults", "no-such-fault"}, exitFailure, "no-such-fault"},
		{[]string{"--faults", "server-kill", "--db", "postgres://nobody@127.0.0.1:1/none"}, exitFailure, "allowed"},
		{[]string{"--plan", file}, exitFailure, "--plan"},
		{[]string{"--db", "sqlserver://nobody@127.0.0.1?database=none"}, exitUsage, "SQLite and PostgreSQL"},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		if r := command(t.Context(), "", append([]string{"torture"}, c.args...)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: %+v; want %d and %q", c.args, r, c.code, c.want)
		}
	}
}
