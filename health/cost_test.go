package health_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/dbtest"
)

// D-110: a look at what waits is made of probes, however much waits: no plan reads
// through a table that grows with messages.
func TestALookReadsNoWholeTable(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	for name, args := range map[string][]any{"waiting": {time.Now().UnixMicro()}, "backlog": {time.Now().UnixMicro(), "[1]"}, "failed": {1, 10}, "stuck": {time.Now().UnixMicro(), 101, int64(3600e6)}} {
		text, err := os.ReadFile("../engine/sqlite/anydriver/health/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.SQL.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+afterComment(strings.ReplaceAll(string(text), "pawl.", "")), args...)
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
			for _, table := range []string{"SCAN r", "SCAN m", "SCAN timer", "SCAN job", "SCAN outbox_exception", "SCAN inbox", "TEMP B-TREE"} {
				if strings.Contains(step, table) {
					t.Errorf("%s: %s", name, step)
				}
			}
		}
		if err := rows.Err(); err != nil || steps == 0 {
			t.Fatal(name, steps, err)
		}
	}
}

func afterComment(text string) string {
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}
