package checker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// D-110: a look at what waits is made of probes, however much waits: no plan reads
// through a table that grows with messages.
func TestALookReadsNoWholeTable(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	for _, o := range []engine.Operation{op.HealthWaiting{}, op.BacklogCounts{Most: 10}, op.InboxStuck{Age: time.Hour, Most: 101}} {
		name := engine.NameOf(o)
		text, args := db.Statement(t, o)
		rows, err := db.SQL.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
		if err != nil {
			t.Fatal(name, err)
		}
		defer rows.Close()
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			steps++
			for _, table := range []string{"SCAN r", "SCAN m", "SCAN timer", "SCAN job", "SCAN outbox_exception", "SCAN e", "SCAN inbox", "SCAN i", "TEMP B-TREE"} {
				if strings.Contains(step, table) && step != "SCAN timer USING INDEX timer_claimed" { // up to a limit
					t.Errorf("%s: %s", name, step)
				}
			}
		}
		if err := rows.Err(); err != nil || steps == 0 {
			t.Fatal(name, steps, err)
		}
	}
}
