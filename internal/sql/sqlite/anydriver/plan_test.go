package anydriver_test

import (
	"slices"
	"strings"
	"testing"

	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
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
			sorts := strings.Contains(detail, "TEMP B-TREE") && !strings.HasSuffix(detail, "FOR count(DISTINCT)") // of what is claimed under a limit
			if strings.HasPrefix(detail, "SCAN "+table) || sorts {
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
	// What is read from its beginning to a limit, in the order of its key, what is
	// small (lanes, pauses, workers), parameters, and what limits have ended.
	walks(t, "backlog/", 2, "outbox_claim", "l", "outbox_pause", "worker_process", "json_each", "lane", "share", "part", "run", "topic", "rest", "t", "p", "aside", "failed", "due", "stale", "late")
}

// D-221: a window of a list is found through an index, and of it the messages one by one.
func TestWindowsOfListsAreWalks(t *testing.T) {
	t.Parallel()
	// Runs that a limit ends, headers, and subqueries.
	walks(t, "outbox/list_", 8, "r", "w", "h", "newest", "counted")
}

// D-217: what waits is counted run by run, newest first, and of those message by message.
func TestActivityOfMessagesIsWalked(t *testing.T) {
	t.Parallel()
	walks(t, "activity/waiting", 1, "r", "c", "run", "message", "m", "l")
}

// walks fails the test if statements read a table from its beginning, but for those that are walked:
// what a limit ends, or what is small.
func walks(t *testing.T, prefix string, least int, walked ...string) {
	t.Helper()
	db, _ := migrated(t)
	seen := 0
	for _, s := range sqlite.Statements(db) {
		if !strings.HasPrefix(s.Name, prefix) {
			continue
		}
		seen++
		rows, err := db.SQL().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.Text, make([]any, s.Parameters())...)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		defer rows.Close()
		steps, sorts := 0, 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			enginetest.Must(t, rows.Scan(&id, &parent, &unused, &step))
			steps++
			if strings.Contains(step, "FOR ORDER BY") {
				sorts++
			}
			if table, scan := strings.CutPrefix(step, "SCAN "); scan && !small(table, walked) {
				t.Errorf("%s: %s", s.Name, step)
			}
		}
		enginetest.Must(t, rows.Err())
		// Each window is sorted, of rows that limits have ended; a floor is one.
		windows := strings.Count(s.Text, "PARTITION BY") + strings.Count(s.Text, " OVER (ORDER BY ")
		if steps == 0 || sorts > windows && !strings.HasSuffix(s.Name, "_floor") {
			t.Errorf("%s has %d steps and %d sorts, of %d windows", s.Name, steps, sorts, windows)
		}
	}
	if seen < least {
		t.Errorf("there are only %d statements of %s", seen, prefix)
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
