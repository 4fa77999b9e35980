package anydriver_test

import (
	"testing"

	sqlite "github.com/bravellian/pawl/engine/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/enginetest"
)

// Every statement file is asked for: as an operation or, of an operation that Go answers, by that Go.
func TestEveryStatementIsUsed(t *testing.T) {
	ops := sqlite.Files(dbtest.OpenSQLite(t).DB.(*sqlite.DB))
	if unused := enginetest.UnusedStatements(t, "../../..", "engine/sqlite/anydriver", ops, sqlite.Answered, "engine/postgres"); len(unused) > 0 || len(ops) < 100 {
		t.Errorf("of %d statements nobody uses %v", len(ops), unused)
	}
}
