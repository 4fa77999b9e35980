package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/cmd/pawl/internal/evidence"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// scratchSchemas are those of tests of a server that are left.
func scratchSchemas(t *testing.T, url string) (names []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pawl\\_evidence\\_%'")
	if err != nil {
		t.Fatal(err)
	}
	names, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// D-822: every check passes on each engine, or says why it is none there, and nothing is left.
func TestEvidence(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.db")
	url := testpg.URL(t)
	for engine, db := range map[string]string{"sqlite": file, "postgres": url} {
		t.Run(engine, func(t *testing.T) {
			r := command(t.Context(), "", "--db", db, "evidence", "--json", "--load", "200ms")
			if r.code != exitOK {
				t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
			}
			var report evidenceReport
			if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
				t.Fatal(err)
			}
			passed := map[string]bool{}
			for _, c := range report.Results {
				passed[c.Check] = c.Outcome == evidence.Passed
			}
			for _, check := range []string{"two sessions share messages, each once", "eight workers handle each message once, at a rate", "every statement", "joins, timers, jobs, inbox, leases and flows"} {
				if !passed[check] {
					t.Errorf("%s: %+v", check, report.Results)
				}
			}
			if engine == "postgres" && (!passed["a deadlock is an error to repeat"] || !passed["an open transaction keeps no claim waiting"]) {
				t.Errorf("%+v", report.Results)
			}
		})
	}
	if left := scratchSchemas(t, url); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v are left: %v", entries, err)
	}
}

// D-822: what was made is removed when the test is interrupted.
func TestEvidenceInterrupted(t *testing.T) {
	url := testpg.URL(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	done := make(chan result, 1)
	go func() { done <- command(ctx, "", "--db", url, "evidence", "--load", "1m") }()
	eventually(t, "a schema of its own", func() bool { return len(scratchSchemas(t, url)) > 0 })
	interrupt()
	if r := <-done; r.code == exitOK {
		t.Errorf("exit code %d: %s", r.code, r.stdout)
	}
	if left := scratchSchemas(t, url); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// D-823: a report names no host, user, password or database, and no file.
func TestEvidenceNamesNobody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tenant-of-somebody")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	r := command(t.Context(), "", "--db", filepath.Join(dir, "shop.db"), "evidence", "--load", "10ms")
	for _, name := range []string{"tenant-of-somebody", "shop.db", host} {
		if name != "" && strings.Contains(r.stdout, name) {
			t.Errorf("%q is in\n%s", name, r.stdout)
		}
	}
	if lines := strings.Split(r.stdout, "\n"); !slices.Contains(lines, "| check | outcome | detail |") {
		t.Errorf("no table: %s", r.stdout)
	}
	if r := command(t.Context(), "", "--db", filepath.Join(dir, "none", "shop.db"), "evidence"); r.code != exitFailure || r.stdout != "" {
		t.Errorf("exit code %d: %s", r.code, r.stdout)
	}
	if r := command(t.Context(), "", "evidence", "--load", "0s"); r.code != exitUsage {
		t.Errorf("exit code %d", r.code)
	}
}
