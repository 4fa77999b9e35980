package postgres_test

import (
	"testing"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/postgres"
	"github.com/bravellian/pawl/internal/dbtest"
)

// The looks of metrics run with pinned plans, and nothing else does: what is pinned
// ends with their transaction.
func TestPlansOfMetricsArePinned(t *testing.T) {
	db := dbtest.OpenPostgres(t).DB.(*postgres.DB)
	for _, op := range []string{"metrics/setting", "other/setting"} {
		postgres.AddOperation(db, op, "SELECT current_setting($1)")
	}
	read := func(op, setting string) (value string) {
		t.Helper()
		err := db.Read(t.Context(), &engine.Call{Op: op, Args: []any{setting}, Each: func(r engine.Row) error { return r.Scan(&value) }})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, setting := range []string{"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin"} {
		for range 3 {
			if got := read("metrics/setting", setting); got != "off" {
				t.Errorf("%s is %s in a look of metrics", setting, got)
			}
			if got := read("other/setting", setting); got != "on" {
				t.Errorf("%s is %s afterwards", setting, got)
			}
		}
	}
}
