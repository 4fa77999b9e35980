package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// --db takes what the engines' Open takes.
func TestFormsOfDB(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Chdir(t.TempDir())
		for i, db := range []string{"x.db", "sqlite:x.db", "file:x.db", "file:x.db?_pragma=busy_timeout(5000)", filepath.Join(".", "x.db")} {
			if r := command(t.Context(), "{}\n", "enqueue", "--topic", "t", "--db", db); r.code != exitOK {
				t.Fatalf("%s: %+v", db, r)
			}
			if r := command(t.Context(), "", "ls", "--json", "--db", db); len(lines(r.stdout)) != i+1 {
				t.Errorf("%s: %+v", db, r)
			}
		}
	})
	t.Run("postgres", func(t *testing.T) {
		d := onPostgres(t)
		d.must("{}\n", "enqueue", "--topic", "t", "--migrate")
		at := slices.IndexFunc(d.flags, func(s string) bool { return strings.Contains(s, "postgres") })
		config, err := pgx.ParseConfig(strings.TrimPrefix(d.flags[at], "--db="))
		if err != nil {
			t.Fatal(err)
		}
		list := fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=disable", config.Host, config.Port, config.User, config.Password, config.Database)
		flags := slices.Clone(d.flags)
		flags[at] = strings.Replace(flags[at], strings.TrimPrefix(flags[at], "--db="), list, 1)
		r := command(t.Context(), "", append([]string{"ls", "--json"}, flags...)...)
		if r.code != exitOK || len(lines(r.stdout)) != 1 {
			t.Errorf("%q: %+v", list, r)
		}
		r = command(t.Context(), "", "ls", "--db", "host=127.0.0.1 port=1 user=u password=secret dbname=d")
		if r.code != exitFailure || !strings.Contains(r.stderr, "cannot reach postgres://127.0.0.1:1/d") || strings.Contains(r.stderr, "secret") {
			t.Errorf("%+v", r)
		}
	})
}
