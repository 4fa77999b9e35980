package postgres_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// BoundedSetting and OtherSetting answer with a setting as it is while they run.
type (
	BoundedSetting struct {
		engine.Rows[setting]
		engine.Bounded
		Name string
	}
	OtherSetting struct {
		engine.Rows[setting]
		Name string
	}
	setting struct{ Value string }
)

// D-221: the statements that read a bounded part of large tables run with pinned plans, and nothing else
// does: the pin ends with their transaction.
func TestPlansArePinned(t *testing.T) {
	db := dbtest.OpenPostgres(t).DB.(*postgres.DB)
	for _, o := range []engine.Operation{BoundedSetting{}, OtherSetting{}} {
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
			if got := read(BoundedSetting{Name: name}); got != "off" {
				t.Errorf("%s is %s in a bounded read", name, got)
			}
			if got := read(OtherSetting{Name: name}); got != "on" {
				t.Errorf("%s is %s afterwards", name, got)
			}
		}
	}
}

// D-221: what a page, a metric or a clean-up reads of large tables is bounded by its statement, so its plan is pinned;
// and what workers ask for once a second, whose plan was compiled for 400 ms while a snapshot was held.
func TestBoundedReadsArePinned(t *testing.T) {
	db := dbtest.OpenPostgres(t).DB.(*postgres.DB)
	for _, o := range []engine.Operation{
		op.BacklogMessages{}, op.BacklogCounts{}, op.ActivityList{}, op.ActivityTrouble{}, op.ActivityWaiting{},
		op.OutboxListRecent{}, op.OutboxListRecentFloor{}, op.OutboxListReady{}, op.OutboxListReadyFloor{},
		op.OutboxListClaimed{}, op.OutboxListClaimedFloor{}, op.OutboxListDead{}, op.OutboxListDeadFloor{},
		op.OutboxStopping{}, op.InboxPurge{}, op.JobPurge{}, op.TimerPurge{},
	} {
		if postgres.Settings(db, o) == "" {
			t.Errorf("the plan of %s is not pinned", engine.NameOf(o))
		}
	}
}
