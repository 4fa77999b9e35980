package anydriver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/enginetest"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
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
		"join/result_put":       "m",
		"join/of":               "m",
		"join/members":          "r",
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

// The reads of the backlog walk along indexes, in their order.
func TestReadsOfTheBacklogAreWalks(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	// What is read from its beginning to a limit, in the order of its key, what is
	// small (lanes, pauses, workers), parameters, and subqueries.
	walked := []string{"outbox_claim", "l", "outbox_pause", "worker_process", "r", "c", "f", "s", "k", "json_each"}
	seen := 0
	for _, s := range sqlite.Statements(db) {
		if !strings.HasPrefix(s.Name, "backlog/") {
			continue
		}
		seen++
		rows, err := db.SQL().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.Text, make([]any, s.Parameters())...)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		defer rows.Close()
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			enginetest.Must(t, rows.Scan(&id, &parent, &unused, &step))
			steps++
			if strings.Contains(step, "FOR ORDER BY") {
				t.Errorf("%s: %s", s.Name, step)
			}
			if table, scan := strings.CutPrefix(step, "SCAN "); scan && !small(table, walked) {
				t.Errorf("%s: %s", s.Name, step)
			}
		}
		enginetest.Must(t, rows.Err())
		if steps == 0 {
			t.Errorf("%s has no plan", s.Name)
		}
	}
	if seen < 9 {
		t.Errorf("the backlog has only %d statements", seen)
	}
}

// small tells names of what a limit ends, or of subqueries, which have one.
func small(step string, walked []string) bool {
	table, _, _ := strings.Cut(step, " ")
	if step == "timer USING INDEX timer_claimed" { // read up to a limit
		return true
	}
	return slices.Contains(walked, table) || strings.HasPrefix(table, "(") || strings.HasSuffix(step, "CONSTANT ROW")
}
