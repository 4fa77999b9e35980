package anydriver_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/enginetest"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
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
