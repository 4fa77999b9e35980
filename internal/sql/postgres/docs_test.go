package postgres_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// OBX-124: the documentation leads to the scripts that are tested.
func TestTheDocumentedGrantsAreTheTestedOnes(t *testing.T) {
	text, err := os.ReadFile("../../../docs/security.md")
	enginetest.Must(t, err)
	for _, role := range (&postgres.DB{}).Roles() {
		script := "grants/" + string(role) + ".sql"
		if role != engine.RoleMigrator && !strings.Contains(string(text), "| ["+string(role)+"](../internal/sql/postgres/"+script+") |") {
			t.Errorf("docs/security.md does not lead to %s", script)
		}
	}
}

// D-8: the documentation lists every public routine, with its parameters.
func TestTheDocumentedRoutinesAreAllThereAre(t *testing.T) {
	text, err := os.ReadFile("../../../docs/sql.md")
	enginetest.Must(t, err)
	var documented, have []string
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			call, _, _ := strings.Cut(rest, "`")
			documented = append(documented, call)
		}
	}
	for _, r := range door(&doorFixture{}) {
		var names []string
		for _, p := range r.params {
			names = append(names, p.name)
		}
		have = append(have, r.name+"("+strings.Join(names, ", ")+")")
	}
	slices.Sort(documented)
	slices.Sort(have)
	if !slices.Equal(documented, have) {
		t.Errorf("docs/sql.md has\n%s\nthere are\n%s", strings.Join(documented, "\n"), strings.Join(have, "\n"))
	}
}

// D-8: the documentation has the types and defaults of every public routine, as the database has them.
func TestTheDocumentedTypesAreThoseOfTheDatabase(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	var names []string
	for _, r := range door(&doorFixture{}) {
		names = append(names, r.name)
	}
	var have string
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	enginetest.Must(t, f.conn.QueryRow(t.Context(), `SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM (
		SELECT replace(regexp_replace(p.proname || '(' || pg_get_function_arguments(p.oid) || ') -> ' || pg_get_function_result(p.oid), '::[a-z ]+', '', 'g'), 'timestamp with time zone', 'timestamptz') AS line
		  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND p.proname = ANY ($2)) x`, p.Names.Schema, names).Scan(&have))
	text, err := os.ReadFile("../../../docs/sql.md")
	enginetest.Must(t, err)
	if !strings.Contains(string(text), "```text\n"+have+"\n```") {
		t.Errorf("docs/sql.md has other types than\n%s", have)
	}
}
