package postgres_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
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
