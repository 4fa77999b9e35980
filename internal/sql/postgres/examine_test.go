package postgres_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

var update = flag.Bool("update", false, "write doctor/objects.txt")

// The doctor's list of what the migrations make is what they make, under any names.
// After a new migration: go test ./internal/sql/postgres -run TestObjectsAreThoseOfTheMigrations -update
func TestObjectsAreThoseOfTheMigrations(t *testing.T) {
	for _, prefix := range []string{"", "p_"} {
		db := open(t, testpg.URL(t), postgres.Options{Schema: schema(t), Prefix: prefix})
		enginetest.Must(t, db.Migrate(t.Context()))
		got, err := postgres.Objects(t.Context(), db)
		enginetest.Must(t, err)
		slices.Sort(got)
		text := strings.Join(got, "\n") + "\n"
		if *update && prefix == "" {
			enginetest.Must(t, os.WriteFile("doctor/objects.txt", []byte(text), 0o644))
		}
		want, err := os.ReadFile("doctor/objects.txt")
		enginetest.Must(t, err)
		if text == string(want) {
			continue
		}
		there := strings.Split(string(want), "\n")
		for _, line := range got {
			if !slices.Contains(there, line) {
				t.Errorf("prefix %q: not in doctor/objects.txt: %s", prefix, line)
			}
		}
		for _, line := range there {
			if line != "" && !slices.Contains(got, line) {
				t.Errorf("prefix %q: not made by the migrations: %s", prefix, line)
			}
		}
	}
}

// What a server shared by all tests cannot be made to say is judged here.
func TestJudgements(t *testing.T) {
	for _, c := range []struct {
		name  string
		found []health.Finding
		level health.Level
		want  string
	}{
		{"good server", postgres.CheckServer("17.1", 170001, false, false, "read committed"), health.OK, "PostgreSQL 17.1"},
		{"old server", postgres.CheckServer("13.9", 130009, false, false, "read committed"), health.Problem, "13.9"},
		{"standby", postgres.CheckServer("17.1", 170001, true, false, "read committed"), health.Problem, "standby"},
		{"few connections", postgres.CheckConnections(97, 10, 80), health.OK, "10 of 97"},
		{"many connections", postgres.CheckConnections(97, 90, 80), health.Warning, "90 of 97"},
		{"all connections", postgres.CheckConnections(97, 97, 80), health.Problem, "97 of 97"},
		{"no limit", postgres.CheckConnections(-1, 97, 80), health.OK, ""},
		{"young table", postgres.CheckAge(200_000_000), health.OK, ""},
		{"aged table", postgres.CheckAge(700_000_000), health.Warning, "700000000 transactions"},
		{"doomed table", postgres.CheckAge(1_700_000_000), health.Problem, "1700000000 transactions"},
		{"own sessions", postgres.CheckPooler(7, 7, 8, 7), health.OK, "7"},
		{"one connection", postgres.CheckPooler(7, 7, 0, 7), health.Note, "one connection"},
		{"session pooler", postgres.CheckPooler(99, 7, 8, 7), health.Note, "keeps sessions"},
		{"taken over", postgres.CheckPooler(99, 7, 7, 9), health.Warning, "by the transaction"},
		{"moved", postgres.CheckPooler(99, 7, 8, 9), health.Warning, "by the transaction"},
	} {
		worst, text := health.OK, ""
		for _, f := range c.found {
			worst, text = max(worst, f.Level), text+f.Summary
		}
		if worst != c.level || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v, want %v with %q", c.name, c.found, c.level, c.want)
		}
	}
}
