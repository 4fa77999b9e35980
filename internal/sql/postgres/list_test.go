package postgres_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// scan is a node of a plan with how many rows it read.
type scan struct {
	Type    string  `json:"Node Type"`
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Loops   float64 `json:"Actual Loops"`
	Table   string  `json:"Relation Name"`
	Plans   []scan
}

// read is how many rows of tables a node and those below it read.
func (s *scan) read() (rows float64) {
	if s.Table != "" {
		rows = (s.Rows + s.Removed) * s.Loops
	}
	for i := range s.Plans {
		rows += s.Plans[i].read()
	}
	return rows
}

// readBy runs a statement as the engine does, and returns how many rows it read.
func readBy(t *testing.T, pg *postgres.DB, mode string, o engine.Operation) float64 {
	t.Helper()
	tx, err := pg.Pool().Begin(t.Context())
	enginetest.Must(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	query, args := postgres.StatementOf(pg, o)
	for _, setting := range []string{postgres.Settings(pg, o), "SET LOCAL plan_cache_mode = " + mode, "SET LOCAL statement_timeout = 30000"} {
		if _, err = tx.Exec(t.Context(), setting, pgx.QueryExecModeExec); setting != "" {
			enginetest.Must(t, err)
		}
	}
	var text []byte
	enginetest.Must(t, tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+query, args...).Scan(&text))
	var plans []struct{ Plan scan }
	enginetest.Must(t, json.Unmarshal(text, &plans))
	return plans[0].Plan.read()
}

// lists are the statements of lists that find nothing in look messages of each state.
func lists(n int64, look int) map[string]engine.Operation {
	none := "none"
	from := func(top int64) op.OutboxFilter {
		return op.OutboxFilter{Before: top + 1, Floor: top + 1 - int64(look), Most: 50, Topic: &none, Queue: &none, CorrelationID: &none, Error: &none}
	}
	done, ready, claimed := from(n/4), from(n/2), from(3*n/4)
	two := 2
	return map[string]engine.Operation{
		"recent": op.OutboxListRecent{OutboxFilter: from(n)}, "recent floor": op.OutboxListRecentFloor{Before: math.MaxInt64, Look: look},
		"done": op.OutboxListRecent{OutboxFilter: done, Status: &two}, "ready": op.OutboxListReady{OutboxFilter: ready}, "scheduled": op.OutboxListReady{OutboxFilter: ready, Later: true},
		"activity":    op.ActivityWaiting{Runs: int64(look), Messages: int64(look)},
		"ready floor": op.OutboxListReadyFloor{Before: math.MaxInt64, Look: look},
		"claimed":     op.OutboxListClaimed{OutboxFilter: claimed}, "claimed floor": op.OutboxListClaimedFloor{Before: math.MaxInt64, Look: look},
		"failed": op.OutboxListDead{OutboxFilter: from(n), Status: 3}, "failed floor": op.OutboxListDeadFloor{Before: math.MaxInt64, Look: look, Status: 3},
		"failures": op.OutboxFailures{Below: n + 1, Floor: n + 1 - int64(look)}, "get": op.OutboxGet{ID: n}, "find": op.OutboxFind{MessageID: joinOf(n)},
		"members": op.JoinMembers{JoinID: joinOf(0), Most: look}, "uncompleted": op.JoinUncompleted{JoinID: joinOf(1)}, "waits": op.JoinWaits{JoinID: joinOf(1)},
		"job runs": op.JobRuns{Name: "j", ScheduledTime: time.Now().AddDate(1, 0, 0), Most: look}, "job run": op.JobRun{ID: n},
		"backlog": op.BacklogMessages{Runs: int64(look), Messages: int64(look), Failed: int64(look), Lanes: 10}, "health": op.HealthWaiting{},
		"discarded": op.OutboxListDead{OutboxFilter: from(n), Status: 4}, "discarded floor": op.OutboxListDeadFloor{Before: math.MaxInt64, Look: look, Status: 4},
	}
}

// joinOf is the id of a join or message with a number.
func joinOf(n int64) (id [16]byte) {
	_, _ = hex.Decode(id[:], fmt.Appendf(nil, "%032d", n))
	return id
}

// fill stores n messages: a quarter each done, ready, claimed and failed, each a run of its own but
// those that are done.
func fill(t *testing.T, db dbtest.Database, n int) (tables []string) {
	t.Helper()
	for _, one := range []struct{ table, columns, values string }{
		{"outbox_message", "id, message_id, lane, topic, correlation_id, payload", fmt.Sprintf("g, lpad(g::text, 32, '0')::uuid, 4828129222919567135, 't', 'c' || g, '' FROM generate_series(1, %d) g", n)},
		{"outbox_done", "lo, n, processed_at, owner", fmt.Sprintf("10 * g + 1, 10, now(), gen_random_uuid() FROM generate_series(0, %d) g", n/40-1)},
		{"outbox_ready", "lane, at, lo, n", fmt.Sprintf("4828129222919567135, now(), g, 1 FROM generate_series(%d, %d) g", n/4+1, n/2)},
		{"outbox_claim", "lo, n, lane, at, retry, owner, locked_until", fmt.Sprintf("g, 1, 4828129222919567135, now(), 0, gen_random_uuid(), now() FROM generate_series(%d, %d) g", n/2+1, 3*n/4)},
		{"outbox_unique", "key, id, message_id, enqueued_at", fmt.Sprintf("'k' || g, g, gen_random_uuid(), now() FROM generate_series(1, %d) g", n)},
		{"job_run", "id, run_id, job_id, job_name, scheduled_time", fmt.Sprintf("g, gen_random_uuid(), gen_random_uuid(), 'j', now() - g * interval '1 s' FROM generate_series(1, %d) g", n)},
		{"outbox_join", "join_id, expected_steps", "lpad(g::text, 32, '0')::uuid, 1 FROM generate_series(0, 1) g"},
		{"outbox_join_member", "join_id, outbox_message_id, id", fmt.Sprintf("lpad(CASE WHEN g <= 500 THEN '1' ELSE '0' END, 32, '0')::uuid, lpad(g::text, 32, '0')::uuid, g FROM generate_series(1, %d) g", n)},
		{"outbox_join_wait", "id, join_id", fmt.Sprintf("g, lpad(CASE WHEN g <= 500 THEN '1' ELSE '0' END, 32, '0')::uuid FROM generate_series(1, %d) g", n)},
		{"outbox_join_result", "join_id, id, result", fmt.Sprintf("lpad(CASE WHEN g <= 500 THEN '1' ELSE '0' END, 32, '0')::uuid, g, '' FROM generate_series(1, %d) g", n)},
		{"outbox_exception", "id, status, last_error, updated_at", fmt.Sprintf("g, 3, 'e', now() FROM generate_series(%d, %d) g", 3*n/4+1, n)},
	} {
		_, err := db.SQL.ExecContext(t.Context(), "INSERT INTO "+db.Table(one.table)+" ("+one.columns+") SELECT "+one.values)
		enginetest.Must(t, err)
		tables = append(tables, db.Table(one.table))
	}
	return tables
}

// D-221, D-668: a window of a list reads no more rows than the window has, and their places, whatever the
// planner knows of the tables.
func TestListsReadBoundedRows(t *testing.T) {
	db := dbtest.OpenPostgres(t)
	pg := db.DB.(*postgres.DB)
	const n, look = 30_000, 500
	keepStatistics(t, db)
	tables := fill(t, db, n)
	check := func(when string) {
		t.Helper()
		for name, o := range lists(n, look) {
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				if rows := readBy(t, pg, mode, o); rows > 10*look {
					t.Errorf("%s, %s: %s reads %.0f rows of %d messages", when, mode, name, rows, look)
				}
			}
		}
	}
	check("without statistics")
	for _, known := range statistics {
		if known.known != "" && known.known != analyze {
			_, err := db.SQL.ExecContext(t.Context(), strings.ReplaceAll(known.known, "$schema", schemaOf(db)))
			enginetest.Must(t, err)
			check("statistics " + known.name)
		}
	}
	for _, table := range tables {
		_, err := db.SQL.ExecContext(t.Context(), "ANALYZE "+table)
		enginetest.Must(t, err)
	}
	check("with statistics")
}
