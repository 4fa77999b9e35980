package postgres_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
)

// MetricsSetting, OutboxListSetting and OtherSetting answer with a setting as it is while they run.
type (
	MetricsSetting struct {
		engine.Rows[setting]
		Name string
	}
	OutboxListSetting struct {
		engine.Rows[setting]
		Name string
	}
	OtherSetting struct {
		engine.Rows[setting]
		Name string
	}
	setting struct{ Value string }
)

// D-221: the statements of metrics and of lists run with pinned plans, and nothing else does: the
// pin ends with their transaction.
func TestPlansArePinned(t *testing.T) {
	db := dbtest.OpenPostgres(t).DB.(*postgres.DB)
	for _, o := range []engine.Operation{MetricsSetting{}, OutboxListSetting{}, OtherSetting{}} {
		if err := postgres.AddOperation(db, o, "SELECT current_setting(@name) AS value"); err != nil {
			t.Fatal(err)
		}
	}
	read := func(o engine.Answering[setting]) string {
		t.Helper()
		row, _, err := engine.Get(t.Context(), db, o)
		if err != nil {
			t.Fatal(err)
		}
		return row.Value
	}
	for _, name := range []string{"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin"} {
		for range 3 {
			if got := read(MetricsSetting{Name: name}); got != "off" {
				t.Errorf("%s is %s in a look of metrics", name, got)
			}
			if got := read(OutboxListSetting{Name: name}); got != "off" {
				t.Errorf("%s is %s in a list", name, got)
			}
			if got := read(OtherSetting{Name: name}); got != "on" {
				t.Errorf("%s is %s afterwards", name, got)
			}
		}
	}
}
