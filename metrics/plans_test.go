package metrics_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
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
		for _, o := range []engine.Operation{op.BacklogMessages{Runs: look, Messages: look, Failed: look, Lanes: 10}, op.BacklogCounts{Most: look}} {
			for table, n := range explain(t, db, o) {
				if n > 6*look {
					t.Errorf("%s read %v rows of %s (statistics known: %v)", engine.NameOf(o), n, table, known)
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
func explain(t *testing.T, db dbtest.Database, o engine.Operation) map[string]float64 {
	t.Helper()
	query, args := db.Statement(t, o)
	tx := db.Begin(t)
	defer tx.Rollback()
	for _, setting := range []string{"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "jit"} {
		_, err := tx.ExecContext(t.Context(), "SET LOCAL "+setting+" = off")
		check(t, err)
	}
	var text string
	check(t, tx.QueryRowContext(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+query, args...).Scan(&text))
	var plans []struct{ Plan node }
	check(t, json.Unmarshal([]byte(text), &plans))
	read := map[string]float64{}
	plans[0].Plan.count(read)
	if len(read) < 3 {
		t.Fatalf("the plan of %s reads only %v", engine.NameOf(o), read)
	}
	return read
}
