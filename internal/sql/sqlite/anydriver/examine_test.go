package anydriver_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// With many joins the planner would rather read all pending members for each: a
// page of joins took 30 s with half a million members.
func TestDoctorLooksAtOneJoinsMembers(t *testing.T) {
	db := open(t, t.TempDir()+"/pawl.db")
	enginetest.Must(t, db.Migrate(t.Context()))
	for _, op := range []string{"doctor/joins", "doctor/join_missed"} {
		rows, err := db.SQL().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+sqlite.Statement(db, op), 0, 0, 0, 0, 0)
		enginetest.Must(t, err)
		defer rows.Close()
		plan := ""
		for rows.Next() {
			var id, parent, unused int
			var detail string
			enginetest.Must(t, rows.Scan(&id, &parent, &unused, &detail))
			plan += detail + "\n"
		}
		enginetest.Must(t, rows.Err())
		if !strings.Contains(plan, "USING PRIMARY KEY (join_id=?)") || strings.Contains(plan, "outbox_join_member_place") || strings.Contains(plan, "SCAN y") || strings.Contains(plan, "SCAN m") {
			t.Errorf("%s:\n%s", op, plan)
		}
	}
}

// Every statement of the doctor can be prepared and run on an empty database.
func TestExaminationsOfANewFile(t *testing.T) {
	db := open(t, t.TempDir()+"/pawl.db")
	for range 2 { // first without tables, which is not their matter
		for _, x := range db.Examinations(engine.ExamineLimits{}) {
			found, err := x.Examine(t.Context())
			enginetest.Must(t, err)
			for _, f := range found {
				if f.Level != health.OK {
					t.Errorf("%s: %+v", x.Name, f)
				}
			}
		}
		enginetest.Must(t, db.Migrate(t.Context()))
	}
}
