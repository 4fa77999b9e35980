package admin_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// D-668: what explaining and finding a message read does not grow with the tables, whether the
// planner knows nothing of them, takes them for empty with many pages (as after a vacuum of
// drained tables), for huge, or knows them.
func TestReadsAreBounded(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		if e.Name == "sqlserver" {
			t.Skip("what SQL Server reads is to be seen by hand: SET STATISTICS IO ON")
		}
		db := e.Open(t)
		fill(t, db)
		states := []string{"", analyze(db)}
		if e.Name == "postgres" {
			states = []string{"", believed(db, 1, 1_000_000), believed(db, 10_000_000, 1), analyze(db)}
		}
		for i, statement := range states {
			if statement != "" {
				run(t, db, statement)
			}
			for _, o := range []engine.Operation{op.ClockNow{}, op.ExplainPlace{ID: 20_000}, op.ExplainAhead{ID: 20_000, Look: 100}, op.ExplainWaits{Most: 100},
				op.OutboxGet{ID: 20_000}, op.OutboxFind{MessageID: uuid.UUID{1}}} {
				if e.Name == "sqlite" {
					seeksOnly(t, db, o)
				} else if rows := readRows(t, db, o); rows > 500 {
					t.Errorf("%s reads %d rows of 20000 in state %d", engine.NameOf(o), rows, i)
				}
			}
		}
	})
}

// believed makes PostgreSQL's planner believe that each table has so many rows and pages,
// until somebody analyzes it.
func believed(db dbtest.Database, rows, pages int) string {
	return fmt.Sprintf("UPDATE pg_class SET reltuples = %d, relpages = %d WHERE relkind IN ('r', 'i') AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = '%s'::regclass)",
		rows, pages, db.Table("outbox_message"))
}

// fill stores 20 000 messages, every one a run: half of them go first.
func fill(t *testing.T, db dbtest.Database) {
	t.Helper()
	series := "generate_series(1, 20000) i"
	message, ready := "(id, message_id, lane, topic, payload)", "now() - make_interval(secs => 30000 - i)"
	values := "i, md5(i::text)::uuid, 4828129222919567135, 't', ''"
	if db.Engine() == "sqlite" {
		series = "(WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 20000) SELECT i FROM s)"
		message, values, ready = "(id, message_id, lane, topic, payload, created_at)", "i, randomblob(16), 4828129222919567135, 't', '', i", "i"
	}
	run(t, db, "INSERT INTO "+db.Table("outbox_lane")+" (id, queue, priority) VALUES (7, 'default', -1)")
	run(t, db, "INSERT INTO "+db.Table("outbox_message")+" "+message+" SELECT "+values+" FROM "+series)
	run(t, db, "INSERT INTO "+db.Table("outbox_ready")+" (lane, at, lo, n) SELECT CASE WHEN i % 2 = 0 THEN 4828129222919567135 ELSE 7 END, "+ready+", i, 1 FROM "+series)
}

// analyze renews the planner's statistics. On PostgreSQL it names the tables: the
// others of the server are those of other tests.
func analyze(db dbtest.Database) string {
	if db.Engine() == "sqlite" {
		return "ANALYZE"
	}
	var tables []string
	for _, name := range []string{"outbox_lane", "outbox_message", "outbox_ready", "outbox_exception", "outbox_join_wait"} {
		tables = append(tables, db.Table(name))
	}
	return "ANALYZE " + strings.Join(tables, ", ")
}

func run(t *testing.T, db dbtest.Database, statement string) {
	t.Helper()
	if _, err := db.SQL.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// plan returns what the database says of how it answers an operation. before is
// what goes before the statement.
func plan(t *testing.T, db dbtest.Database, o engine.Operation, before string, column int) (lines []string) {
	t.Helper()
	query, args := db.Statement(t, o)
	rows, err := db.SQL.QueryContext(t.Context(), before+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", engine.NameOf(o), err)
	}
	defer rows.Close()
	for rows.Next() {
		cells := make([]any, column+1)
		for i := range cells {
			cells[i] = new(string)
		}
		if err := rows.Scan(cells...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, *cells[column].(*string))
	}
	if err := rows.Err(); err != nil || len(lines) == 0 {
		t.Fatalf("%s: no plan: %v", engine.NameOf(o), err)
	}
	return lines
}

// readRows is the most rows that a step of the plan handled.
func readRows(t *testing.T, db dbtest.Database, o engine.Operation) (most int) {
	t.Helper()
	actual := regexp.MustCompile(`actual .*rows=(\d+)\S* loops=(\d+)|Rows Removed by \w+: (\d+)`)
	for _, line := range plan(t, db, o, "EXPLAIN (ANALYZE, TIMING OFF) ", 0) {
		for _, found := range actual.FindAllStringSubmatch(line, -1) {
			n := 1
			for _, number := range found[1:] {
				if v, err := strconv.Atoi(number); err == nil {
					n *= v
				}
			}
			most = max(most, n)
		}
	}
	return most
}

// seeksOnly insists on a plan that scans no table but those of the lanes (l) and of
// the schema, which are small. Scans of what a plan makes itself are bounded by its limits.
func seeksOnly(t *testing.T, db dbtest.Database, o engine.Operation) {
	t.Helper()
	for _, line := range plan(t, db, o, "EXPLAIN QUERY PLAN ", 3) {
		if scan, ok := strings.CutPrefix(line, "SCAN "); ok && scan != "l" && scan != "sqlite_schema" && scan != "run LEFT-JOIN" && !strings.HasPrefix(scan, "mine") && !strings.HasPrefix(scan, "(") && !strings.HasPrefix(scan, "CONSTANT ROW") {
			t.Errorf("%s: %s", engine.NameOf(o), line)
		}
	}
}
