package postgres_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// Every statement file is asked for, and every routine that is no program's (its parameters begin with p_) is called by
// another, by a statement or by a view.
func TestEveryStatementIsUsed(t *testing.T) {
	db, err := postgres.Open("postgres://nobody@127.0.0.1:1/none")
	enginetest.Must(t, err)
	defer func() { _ = db.Close() }()
	if unused := enginetest.UnusedOperations(t, "../../..", "internal/sql/postgres", postgres.Statements(db)); len(unused) > 0 {
		t.Errorf("no operation uses %v", unused)
	}
	if names := postgres.Unbound(db); len(names) > 0 {
		t.Errorf("no operation names %v", names)
	}
	texts := map[string]string{}
	for _, pattern := range []string{"*/*.sql", "*.go", "../op/*/*.sql"} {
		files, err := filepath.Glob(pattern)
		enginetest.Must(t, err)
		for _, f := range files {
			text, err := os.ReadFile(f)
			enginetest.Must(t, err)
			texts[f] = string(text)
		}
	}
	seen := 0
	for f, text := range texts {
		name, ok := strings.CutPrefix(strings.TrimSuffix(f, ".sql"), "routines/")
		if !ok || !strings.Contains(text, "pawl."+name+"(p_") {
			continue
		}
		seen++
		used := slices.ContainsFunc(op.All(), func(o engine.Operation) bool { return engine.RoutineOf(o) == name })
		for other, text := range texts {
			used = used || other != f && strings.Contains(text, "pawl."+name+"(")
		}
		if !used {
			t.Errorf("nobody calls routine %s", name)
		}
	}
	if seen < 40 {
		t.Errorf("found only %d routines", seen)
	}
}

// D-319: a function that takes rows is the last item of its FROM, behind the one that it depends on. A table
// beside them could be joined first; then each of its rows would take anew, and drop what it does not match.
func TestWhatTakesRowsStandsAlone(t *testing.T) {
	t.Parallel()
	alone := regexp.MustCompile(`FROM (unnest\([^()]*\) \w+\([^()]*\)|\w+), LATERAL pawl\.outbox_take\([^()]*\) \w+(\)|\s+RETURNING)`)
	files, err := filepath.Glob("*/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(string(text), "LATERAL pawl.outbox_take(")
		if got := len(alone.FindAll(text, -1)); got != n {
			t.Errorf("%s takes rows %d times, %d times beside others", f, n, n-got)
		}
		found += n
	}
	if found < 6 {
		t.Errorf("%d calls were found", found)
	}
}

// D-565: databases, also under other names, share what their statements were read into.
func TestFilesAreReadOnce(t *testing.T) {
	var of [2][]*engine.Statement
	for i, schema := range []string{"a", "b"} {
		of[i] = postgres.Statements(open(t, "postgres://nobody@127.0.0.1:1/none", postgres.Options{Schema: schema}))
	}
	enginetest.Shared(t, of[0], of[1])
}
