package main

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/test/testpg"
)

// onEmpty is onEngines before anything was migrated, and the same database without
// pawl.
func onEmpty(t *testing.T, test func(t *testing.T, d *database, pool *sql.DB)) {
	open := func(t *testing.T, driver, source string) *sql.DB {
		pool, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		return pool
	}
	t.Run("sqlite", func(t *testing.T) {
		d := onSQLite(t)
		test(t, d, open(t, "sqlite", strings.TrimPrefix(d.flags[0], "--db=sqlite:")))
	})
	t.Run("postgres", func(t *testing.T) { test(t, onPostgres(t), open(t, "pgx", testpg.URL(t))) })
}

// D-100: what "pawl migrate --print" prints is all of the schema, wherever it is run.
func TestMigratePrint(t *testing.T) {
	onEmpty(t, func(t *testing.T, d *database, pool *sql.DB) {
		script := d.must("", "migrate", "--print")
		if d.flags[0][:len("--db=sqlite")] == "--db=sqlite" {
			if r := d.run("", "migrate", "--check"); r.code != exitFailure || !strings.Contains(r.stderr, "does not exist") {
				t.Errorf("printing made a file: %+v", r)
			}
		}
		if _, err := pool.ExecContext(t.Context(), script); err != nil {
			t.Fatal(err)
		}
		d.must("", "migrate", "--check")
		if out := d.must("", "migrate"); !strings.Contains(out, "is up to date") {
			t.Errorf("afterwards: %q", out)
		}
		d.must("x", "enqueue", "--topic", "t")
		if goose := d.must("", "migrate", "--print", "--format", "goose"); !strings.HasPrefix(goose, "-- +goose Up\n") || !strings.Contains(goose, strings.TrimSpace(script)) {
			t.Error("for goose it is another script")
		}
		first := regexp.MustCompile(`CREATE TABLE .*outbox_message`)
		if rest := d.must("", "migrate", "--print", "--from", "1"); first.MatchString(rest) || !first.MatchString(script) || !strings.Contains(rest, "VIEW") {
			t.Error("after version 1 there are its tables")
		}
	})
}

// D-100: --status and --check tell what a database has, and change nothing.
func TestMigrateStatus(t *testing.T) {
	onEmpty(t, func(t *testing.T, d *database, pool *sql.DB) {
		if err := pool.PingContext(t.Context()); err != nil { // makes the file
			t.Fatal(err)
		}
		if _, err := pool.ExecContext(t.Context(), "PRAGMA user_version = 0"); err != nil && strings.Contains(d.flags[0], "sqlite:") {
			t.Fatal(err)
		}
		type step struct {
			Version   int
			AppliedAt *string `json:"applied_at"`
		}
		var v struct {
			Version, Program int
			Usable           bool
			Problem          string
			Migrations       []step
			Objects          []string
		}
		if r := d.run("", "migrate", "--check"); r.code != exitFailure || !strings.Contains(r.stdout, "schema missing") || r.stderr != "" {
			t.Errorf("before: %+v", r)
		}
		decode(t, d.must("", "migrate", "--status", "--json"), &v)
		if v.Version != 0 || v.Program < 1 || v.Usable || v.Problem == "" || len(v.Migrations) != v.Program || v.Migrations[0].AppliedAt != nil || len(v.Objects) == 0 {
			t.Errorf("before: %+v", v)
		}
		d.must("", "migrate")
		v.Problem = ""
		decode(t, d.must("", "migrate", "--status", "--json"), &v)
		if v.Version != v.Program || !v.Usable || v.Problem != "" || v.Migrations[v.Program-1].AppliedAt == nil || len(v.Objects) != 0 {
			t.Errorf("afterwards: %+v", v)
		}
		if out := d.must("", "migrate", "--status"); !strings.Contains(out, "baseline") || !strings.Contains(out, "as this build needs it") {
			t.Errorf("said %q", out)
		}
		if out := d.must("", "migrate", "--check"); strings.Contains(out, "baseline") {
			t.Errorf("said %q", out)
		}
	})
}

// D-100: tables without notes are noted if they are as pawl makes them.
func TestMigrateBaseline(t *testing.T) {
	onEmpty(t, func(t *testing.T, d *database, pool *sql.DB) {
		d.must("", "migrate")
		table := func(name string) string {
			if schema, ok := strings.CutPrefix(d.flags[len(d.flags)-1], "--schema="); ok {
				return `"` + schema + `".` + name
			}
			return name
		}
		exec := func(statement string) {
			t.Helper()
			if _, err := pool.ExecContext(context.Background(), statement); err != nil {
				t.Fatal(err)
			}
		}
		exec("DELETE FROM " + table("pawl_schema"))
		exec("DELETE FROM " + table("pawl_object"))
		if out := d.must("", "migrate", "--baseline"); !strings.Contains(out, "as this build needs it") {
			t.Errorf("said %q", out)
		}
		d.must("x", "enqueue", "--topic", "t")
		exec("DELETE FROM " + table("pawl_schema"))
		exec("DROP TABLE " + table("outbox_pause"))
		if r := d.run("", "migrate", "--baseline"); r.code != exitFailure || !strings.Contains(r.stderr, "outbox_pause") {
			t.Errorf("a table less: %+v", r)
		}
	})
}

func TestMigrateMistakes(t *testing.T) {
	d := onSQLite(t)
	for _, args := range [][]string{
		{"--status", "--check"}, {"--print", "--baseline"}, {"--from", "1"}, {"--format", "goose"}, {"--status", "--to", "1"},
		{"--print", "--format", "flyway"}, {"--check", "--grants", "viewer=x"}, {"--print", "--canary", "x"}, {"--status", "--fleet", "dir:."},
	} {
		if r := d.run("", append([]string{"migrate"}, args...)...); r.code != exitUsage || r.stderr == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if r := d.run("", "migrate", "--print", "--from", "99"); r.code == exitOK || !strings.Contains(r.stderr, "from: 99") {
		t.Errorf("a version that is not there: %+v", r)
	}
}
