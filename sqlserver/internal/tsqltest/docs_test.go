package tsqltest_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/test/docblocks"
	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

// D-238: T-SQL of the documentation is parsed; no SQL Server is at hand.
func TestDocumentedStatements(t *testing.T) {
	blocks, err := docblocks.Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range blocks {
		if b.Language != "sql" || b.Dialect != "sqlserver" {
			continue
		}
		n++
		if _, err := tsqltest.Parse(b.Text); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
	if n == 0 {
		t.Error("no page has any")
	}
}
