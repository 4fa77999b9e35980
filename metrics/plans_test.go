package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/internal/dbtest"
)

// rowsEach is how many rows every table has, look how many may be looked at.
const (
	rowsEach = 20_000
	look     = 1_000
)

// node is a step of PostgreSQL's plan as it went.
type node struct {
	Type    string  `json:"Node Type"`
	Table   string  `json:"Relation Name"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Plans   []node
}

func (n *node) count(read map[string]float64) {
	if n.Table != "" {
		read[n.Table] += (n.Rows + n.Removed) * n.Loops
	}
	for i := range n.Plans {
		n.Plans[i].count(read)
	}
}

// However large its tables are, PostgreSQL reads a bounded number of rows, whether
// its statistics are of empty tables or of full ones.
func TestReadsOnPostgresAreBounded(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	exec := func(query string) {
		t.Helper()
		_, err := db.SQL.ExecContext(t.Context(), engineNames(db).Render(query))
		check(t, err)
	}
	tables := "pawl.outbox_ready, pawl.outbox_message, pawl.outbox_claim, pawl.outbox_exception, pawl.outbox_join, pawl.timer"
	exec("ANALYZE " + tables)
	fill := fmt.Sprintf("generate_series(1, %d) i", rowsEach)
	const lane = "4828129222919567135"
	exec("INSERT INTO pawl.outbox_message (id, message_id, lane, topic, payload) SELECT i, gen_random_uuid(), " + lane + ", 't', '' FROM " + fill)
	exec("INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT " + lane + ", now() + CASE WHEN i % 2 = 0 THEN interval '1 day' ELSE interval '-1 day' END, i, 1 FROM " + fill)
	exec("INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT 77, now(), i + 100000, 1 FROM " + fill) // of a paused topic
	exec("INSERT INTO pawl.outbox_pause (kind, name, lane, actor) VALUES ('topic', 'p', 77, 'me')")
	exec("INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT i, 1, " + lane + ", now(), 0, gen_random_uuid(), now() FROM " + fill)
	exec("INSERT INTO pawl.outbox_exception (id, status, updated_at) SELECT i, 3, now() FROM " + fill)
	exec("INSERT INTO pawl.outbox_join (join_id, expected_steps, status) SELECT gen_random_uuid(), 1, i % 2 FROM " + fill)
	exec("INSERT INTO pawl.timer (id, timer_id, due_time, at, lane, topic, payload) SELECT i, gen_random_uuid(), now(), now() + CASE WHEN i % 2 = 0 THEN interval '1 day' ELSE interval '-1 day' END, " + lane + ", 't', '' FROM " + fill)
	for _, known := range []bool{false, true} {
		if known {
			exec("ANALYZE " + tables)
		}
		for _, op := range []string{"backlog", "state"} {
			for table, n := range explain(t, db, op) {
				if n > 6*look {
					t.Errorf("metrics/%s read %v rows of %s (statistics known: %v)", op, n, table, known)
				}
			}
		}
	}
}

func engineNames(db dbtest.Database) engine.Names {
	schema, _, _ := strings.Cut(db.Table(""), ".")
	return engine.Names{Schema: schema}
}

// explain runs an operation as the engine does, plans pinned, and returns how many
// rows of which table it read.
func explain(t *testing.T, db dbtest.Database, op string) map[string]float64 {
	t.Helper()
	query := engineNames(db).Render(readFile(t, filepath.Join("..", "engine", "postgres", "metrics", op+".sql")))
	query = strings.NewReplacer("$1", fmt.Sprint(look), "$2", fmt.Sprint(look), "$3", "10").Replace(query)
	tx := db.Begin(t)
	defer tx.Rollback()
	for _, setting := range []string{"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "jit"} {
		_, err := tx.ExecContext(t.Context(), "SET LOCAL "+setting+" = off")
		check(t, err)
	}
	var text string
	check(t, tx.QueryRowContext(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+query).Scan(&text))
	var plans []struct{ Plan node }
	check(t, json.Unmarshal([]byte(text), &plans))
	read := map[string]float64{}
	plans[0].Plan.count(read)
	if len(read) < 3 {
		t.Fatalf("the plan of %s reads only %v", op, read)
	}
	return read
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

// SQLite walks along indexes, in their order.
func TestReadsOnSQLiteAreWalks(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	files, err := filepath.Glob("../engine/sqlite/anydriver/metrics/*.sql")
	check(t, err)
	// What is read from its beginning to a limit, in the order of its key, what is
	// small (lanes, pauses, workers), and subqueries.
	walked := []string{"outbox_claim", "l", "outbox_pause", "worker_process", "r", "c", "f", "s"}
	for _, file := range files {
		query := engine.Names{}.Render(readFile(t, file))
		rows, err := db.SQL.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			check(t, rows.Scan(&id, &parent, &unused, &step))
			steps++
			if strings.Contains(step, "FOR ORDER BY") {
				t.Errorf("%s: %s", file, step)
			}
			if table, scan := strings.CutPrefix(step, "SCAN "); scan && !small(table, walked) {
				t.Errorf("%s: %s", file, step)
			}
		}
		check(t, rows.Err())
		if steps == 0 {
			t.Errorf("%s has no plan", file)
		}
	}
}

// small tells names of what a limit ends, or of subqueries, which have one.
func small(step string, walked []string) bool {
	table, _, _ := strings.Cut(step, " ")
	return slices.Contains(walked, table) || strings.HasPrefix(table, "(") || strings.HasSuffix(step, "CONSTANT ROW")
}
