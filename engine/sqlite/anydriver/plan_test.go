package anydriver_test

import (
	"strings"
	"testing"

	sqlite "github.com/bravellian/pawl/engine/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/enginetest"
)

// OBX-119: what a claim, a settlement and a reap read is found through an index and
// comes out of it in order: the work does not grow with the tables.
func TestHotStatementsUseIndexes(t *testing.T) {
	db, _ := migrated(t)
	for op, table := range map[string]string{
		"outbox/claim_due":      "r", // the alias of the table that grows
		"outbox/claim_pick":     "outbox_ready",
		"outbox/claim_cut":      "outbox_ready",
		"outbox/claim_messages": "m",
		"outbox/take_find":      "outbox_claim",
		"outbox/take_delete":    "outbox_claim",
		"outbox/next_due":       "r",
		"outbox/withdraw_find":  "r",
	} {
		statement := sqlite.Statement(db, op)
		if statement == "" {
			t.Errorf("%s: no such statement", op)
			continue
		}
		rows, err := db.SQL().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, 0, 0, 0, 0, 0, 0, 0)
		enginetest.Must(t, err)
		defer rows.Close()
		searched := false
		for rows.Next() {
			var id, parent, unused int
			var detail string
			enginetest.Must(t, rows.Scan(&id, &parent, &unused, &detail))
			searched = searched || strings.HasPrefix(detail, "SEARCH "+table+" ") && strings.Contains(detail, " USING ")
			if strings.HasPrefix(detail, "SCAN "+table) || strings.Contains(detail, "TEMP B-TREE") {
				t.Errorf("%s: %s", op, detail)
			}
		}
		enginetest.Must(t, rows.Err())
		if !searched {
			t.Errorf("%s does not search %s", op, table)
		}
	}
}
