//go:build linux || darwin

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/test/testpg"
)

// D-296: the program harms processes of its own in a place of its own, and leaves nothing.
func TestProgram(t *testing.T) {
	for engine, where := range map[string][]string{"sqlite": {"-engine", "sqlite"}, "postgres": {"-db", testpg.URL(t)}} {
		t.Run(engine, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			var out strings.Builder
			args := append([]string{"-rounds", "1", "-round", "4s", "-seed", "5", "-workers", "2", "-producers", "1", "-rewinds=false"}, where...)
			if err := command(t.Context(), &out, args); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
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
		"wrong usage":   {"and", "more"},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		if err := command(t.Context(), io.Discard, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", args, err, want)
		}
	}
}
