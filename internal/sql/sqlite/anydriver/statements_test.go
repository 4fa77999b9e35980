package anydriver_test

import (
	"testing"

	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// Every statement file is asked for: as an operation or, of an operation that Go answers, by that Go.
func TestEveryStatementIsUsed(t *testing.T) {
	db := dbtest.OpenSQLite(t).DB.(*sqlite.DB)
	if unused := enginetest.UnusedOperations(t, "../../../..", "internal/sql/sqlite/anydriver", sqlite.Statements(db)); len(unused) > 0 {
		t.Errorf("no operation uses %v", unused)
	}
	if names := sqlite.Unbound(db); len(names) > 0 {
		t.Errorf("no operation names %v", names)
	}
}

// D-565: databases share what their statements were read into.
func TestFilesAreReadOnce(t *testing.T) {
	enginetest.Shared(t, sqlite.Statements(dbtest.OpenSQLite(t).DB.(*sqlite.DB)), sqlite.Statements(dbtest.OpenSQLite(t).DB.(*sqlite.DB)))
}
