package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// hot is a call of a routine on many rows of one value. $n stands for how many.
type hot struct {
	name  string
	fill  []string // what is stored, in parts of stored
	call  string
	rows  bool // the routine takes one row after the other, and is tried with a fifth of them
	fixed bool // reads no more, however many there are
}

// stored are rows of one value: one lane, owner, key, join and topic.
var stored = map[string]string{
	"message":  `INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, headers, payload) SELECT i, lpad(i::text, 32, '0')::uuid, true, 4828129222919567135, 't', '{"pawl-ordering-key": "k"}', '' FROM generate_series(1, $n) i`,
	"ready":    `INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT 4828129222919567135, now() - interval '1 hour', i, 1 FROM generate_series(1, $n) i`,
	"run":      `INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (4828129222919567135, now() - interval '1 hour', 1, $n)`,
	"suspect":  `UPDATE pawl.outbox_ready SET suspect = 1000`,
	"ordered":  `WITH l AS (INSERT INTO pawl.outbox_lane (id, queue, priority, kind) VALUES (1, 'default', 0, 1), (2, 'default', 0, 2) RETURNING 1) UPDATE pawl.outbox_ready SET lane = 1, at = '1969-12-31 23:59:59 UTC'`,
	"later":    `UPDATE pawl.outbox_ready SET at = now() - interval '1 minute'`,
	"line":     `INSERT INTO pawl.outbox_order (id, lane, key, head) SELECT i, 1, 'k', i = 1 FROM generate_series(1, $n) i`,
	"waiting":  `WITH l AS (INSERT INTO pawl.outbox_lane (id, queue, priority, kind) VALUES (1, 'default', 0, 1), (2, 'default', 0, 2) RETURNING 1) UPDATE pawl.outbox_ready SET lane = 2`,
	"claimed":  `INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT i, 1, 4828129222919567135, now(), 0, $owner, now() - interval '1 s' FROM generate_series(1, $n) i`,
	"one":      `INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) VALUES (1, $n, 4828129222919567135, now(), 0, $owner, now() - interval '1 s')`,
	"done":     `INSERT INTO pawl.outbox_done (lo, n, processed_at, owner) SELECT i, 1, '2000-01-01', $owner FROM generate_series(1, $n) i`,
	"failed":   `INSERT INTO pawl.outbox_exception (id, status, last_error, updated_at) SELECT i, 3, 'e', '2000-01-01' FROM generate_series(1, $n) i`,
	"over":     `UPDATE pawl.outbox_exception SET status = 4`,
	"join":     `INSERT INTO pawl.outbox_join (join_id, expected_steps) VALUES ($owner, $n)`,
	"ended":    `UPDATE pawl.outbox_join SET status = 1, last_updated_utc = '2000-01-01'`,
	"member":   `INSERT INTO pawl.outbox_join_member (join_id, outbox_message_id, id) SELECT $owner, lpad(i::text, 32, '0')::uuid, i FROM generate_series(1, $n) i`,
	"counted":  `WITH m AS (UPDATE pawl.outbox_join_member SET status = 2 RETURNING 1) UPDATE pawl.outbox_join SET failed_steps = (SELECT count(*) - 1 FROM m)`,
	"wait":     `INSERT INTO pawl.outbox_join_wait (id, join_id) SELECT i, $owner FROM generate_series(1, $n) i`,
	"others":   `INSERT INTO pawl.outbox_join_wait (id, join_id) SELECT i + $n, $owner FROM generate_series(1, $n) i`,
	"never":    `UPDATE pawl.outbox_ready SET at = '9999-12-31'`,
	"result":   `INSERT INTO pawl.outbox_join_result (join_id, id, result) SELECT $owner, i, 'r' FROM generate_series(1, $n) i`,
	"pause":    `INSERT INTO pawl.outbox_pause (kind, name, lane, actor, ending) VALUES ('topic', 't', 7, 'me', false)`,
	"resumed":  `WITH r AS (UPDATE pawl.outbox_ready SET lane = 7) UPDATE pawl.outbox_pause SET ending = true`,
	"limit":    `INSERT INTO pawl.outbox_limit (kind, name, concurrency, period, burst, actor) VALUES ('topic', 't', 2 * $n, '1 s', 1, 'me')`,
	"limited":  `INSERT INTO pawl.outbox_limit_claim (kind, name, id) SELECT 'topic', 't', i FROM generate_series(1, $n) i`,
	"unique":   `INSERT INTO pawl.outbox_unique (key, id, message_id, enqueued_at) SELECT 'k' || i, i, $owner, now() FROM generate_series(1, $n) i`,
	"timer":    `INSERT INTO pawl.timer (id, timer_id, supplied, due_time, at, lane, topic, payload) SELECT i, lpad(i::text, 32, '0')::uuid, true, '2000-01-01', '2000-01-01', 4828129222919567135, 't', '' FROM generate_series(1, $n) i`,
	"taken":    `UPDATE pawl.timer SET status = 1, owner = $owner, locked_until = now() - interval '1 s'`,
	"job":      `INSERT INTO pawl.job (id, name, topic, payload, lane, schedule, zone, misfire, misfire_limit, overlap, spread, shift, next_time) VALUES ($owner, 'j', 't', '', 4828129222919567135, '* * * * *', 'UTC', 0, 1, 0, 0, 0, '2000-01-01')`,
	"job_run":  `INSERT INTO pawl.job_run (id, run_id, job_id, job_name, scheduled_time) SELECT i, gen_random_uuid(), $owner, 'j', timestamptz '2000-01-01' + i * interval '1 minute' FROM generate_series(1, $n) i`,
	"inbox":    `WITH m AS (UPDATE pawl.outbox_message SET headers = '{"pawl-inbox-source": "s", "pawl-inbox-message-id": "' || id || '"}') INSERT INTO pawl.inbox (source, message_id, status, token) SELECT 's', i::text, 'Processing', $owner FROM generate_series(1, $n) i`,
	"attempts": `INSERT INTO pawl.outbox_attempt (id, attempt, ended_at) SELECT i, 1, now() FROM generate_series(1, $n) i`,
}

const (
	allIDs   = `ARRAY(SELECT i FROM generate_series(1, $n) i)`
	allUUIDs = `ARRAY(SELECT lpad(i::text, 32, '0')::uuid FROM generate_series(1, $n) i)`
	// each is owners, positions and lengths of runs of one message, whole those of one run of all.
	each  = `array_fill($owner, ARRAY[$n]), ` + allIDs + `, array_fill(1, ARRAY[$n])`
	whole = `ARRAY[$owner], ARRAY[1::bigint], ARRAY[$n]`
	of    = `array_fill(%s, ARRAY[$n])`
)

func fillOf(value string) string { return fmt.Sprintf(of, value) }

// hots are calls of every routine that takes a list or works on many rows.
func hots() []hot {
	return []hot{
		{name: "claim", fill: []string{"message", "ready"}, call: `outbox_claim_queue('default', $owner, '1 h', 100, 100, '-infinity')`, fixed: true},
		{name: "claim of a run", fill: []string{"message", "run"}, call: `outbox_claim_queue('default', $owner, '1 h', 100, 1, '-infinity')`, fixed: true},
		{name: "claim all", fill: []string{"message", "ready"}, call: `outbox_claim_queue('default', $owner, '1 h', $n, $n, '-infinity')`},
		{name: "claim suspects", fill: []string{"message", "ready", "suspect"}, call: `outbox_claim_queue_suspects('default', $owner, '1 h', 100)`, fixed: true},
		{name: "claim limited", fill: []string{"message", "ready", "limit"}, call: `outbox_claim_queue('default', $owner, '1 h', 1000, 1000, '-infinity')`},
		{name: "claim heads", fill: []string{"message", "ready", "ordered"}, call: `outbox_claim_heads('default', $owner, '1 h', 100, '{-infinity}', ARRAY[NULL::timestamptz])`, fixed: true},
		{name: "sequence", fill: []string{"message", "ready", "ordered"}, call: `outbox_sequence('default', 100)`, fixed: true},
		{name: "sequence a run", fill: []string{"message", "run", "ordered"}, call: `outbox_sequence('default', 100)`, fixed: true},
		{name: "sequence what was due later", fill: []string{"message", "ready", "ordered", "later"}, call: `outbox_sequence('default', 100)`, fixed: true},
		{name: "sequence step", fill: []string{"message", "ready", "ordered"}, call: `outbox_sequence_step(1, 4828129222919567135, 2, '-infinity', 'epoch', $n, $n)`},
		{name: "sequence step of a run", fill: []string{"message", "run", "ordered"}, call: `outbox_sequence_step(1, 4828129222919567135, 2, '-infinity', 'epoch', $n, $n)`},
		{name: "order release", fill: []string{"message", "ready", "waiting", "line"}, call: `outbox_order_release(ARRAY[1::bigint], ARRAY[1])`, fixed: true},
		{name: "order release all", fill: []string{"message", "ready", "waiting", "line"}, call: `outbox_order_release(ARRAY[1::bigint], ARRAY[$n])`},
		{name: "order repair", fill: []string{"message", "ready", "waiting", "line"}, call: `outbox_order_repair(2)`, fixed: true},
		{name: "ack", fill: []string{"message", "claimed", "line", "join", "member"}, call: `outbox_ack_runs(` + each + `, 'w')`},
		{name: "ack a run", fill: []string{"message", "one", "line", "join", "member"}, call: `outbox_ack_runs(` + whole + `, 'w')`},
		{name: "fail", fill: []string{"message", "claimed", "line", "join", "member"}, call: `outbox_fail_runs(` + each + `, ` + fillOf("'e'::text") + `)`, rows: true},
		{name: "fail a run", fill: []string{"message", "one", "line", "join", "member", "attempts"}, call: `outbox_fail_runs(` + whole + `, ARRAY['e'])`},
		{name: "abandon", fill: []string{"message", "claimed"}, call: `outbox_abandon_runs(` + each + `, ` + fillOf("interval '0'") + `, ` + fillOf("'e'::text") + `)`, rows: true},
		{name: "abandon and yield", fill: []string{"message", "one", "line"}, call: `outbox_abandon_runs(` + whole + `, ARRAY[interval '0'], ARRAY['e'], NULL, 5, ARRAY[true])`},
		{name: "release", fill: []string{"message", "claimed"}, call: `outbox_release_runs(` + each + `, ` + fillOf("interval '0'") + `, ` + fillOf("true") + `)`, rows: true},
		{name: "extend", fill: []string{"message", "claimed"}, call: `outbox_extend_runs(` + each + `, '1 h')`},
		{name: "extend parts", fill: []string{"message", "one"}, call: `outbox_extend_runs(ARRAY[$owner], ARRAY[2::bigint], ARRAY[$n - 1], '1 h')`, fixed: true},
		{name: "reap", fill: []string{"message", "claimed"}, call: `outbox_reap_runs($n)`, rows: true},
		{name: "reap a run", fill: []string{"message", "one"}, call: `outbox_reap_runs(1000)`},
		{name: "park", fill: []string{"message", "one", "pause"}, call: `outbox_park_runs(` + whole + `, ARRAY['t'])`},
		{name: "unpark", fill: []string{"message", "ready", "pause", "resumed"}, call: `outbox_unpark_runs('t', $n)`},
		{name: "join attach", fill: []string{"message", "ready", "join", "others"}, call: `outbox_join_attach_all($owner, ` + allUUIDs + `)`, rows: true},
		{name: "join attach what is done", fill: []string{"message", "done", "join"}, call: `outbox_join_attach_all($owner, ` + allUUIDs + `)`, rows: true},
		{name: "join report", fill: []string{"message", "join", "member"}, call: `outbox_join_report_step($owner, lpad('1', 32, '0')::uuid, 1)`, fixed: true},
		{name: "join settle each", fill: []string{"message", "done", "join", "member"}, call: `outbox_join_settle_each(` + allIDs + `, ` + fillOf("1") + `)`},
		{name: "join end", fill: []string{"message", "ready", "never", "join", "wait"}, call: `outbox_join_end($owner, 3)`},
		{name: "join results", fill: []string{"message", "one", "join", "member"}, call: `outbox_join_results(` + fillOf("$owner") + `, ` + allIDs + `, ` + fillOf("'r'::bytea") + `)`},
		{name: "join purge", fill: []string{"message", "done", "join", "ended", "member", "result"}, call: `outbox_join_purge('1 h', 1000)`},
		{name: "redrive", fill: []string{"message", "failed", "join", "member", "counted"}, call: `outbox_redrive_rows(` + allIDs + `)`},
		{name: "cancel", fill: []string{"message", "ready", "waiting", "line", "join", "member"}, call: `outbox_cancel(` + allIDs + `, 'r')`, rows: true},
		{name: "cancel of a run", fill: []string{"message", "run"}, call: `outbox_cancel(` + allIDs + `, 'r')`, rows: true},
		{name: "discard", fill: []string{"message", "failed", "line"}, call: `outbox_discard(` + allIDs + `)`},
		{name: "dead pick", fill: []string{"message", "failed"}, call: `outbox_dead_pick(NULL, 'none', NULL, NULL, NULL, NULL, 0, 100, 100)`, fixed: true},
		{name: "dead pick of ids", fill: []string{"message", "failed"}, call: `outbox_dead_pick(` + allIDs + `, NULL, NULL, NULL, NULL, NULL, 0, $n, $n)`},
		{name: "reschedule", fill: []string{"message", "ready"}, call: `outbox_reschedule(` + allIDs + `, now())`, rows: true},
		{name: "divert", fill: []string{"message", "one"}, call: `outbox_divert('default', $owner, ` + allIDs + `, 't')`},
		{name: "limit hold", fill: []string{"message", "one", "limit"}, call: `outbox_limit_hold('topic', 't')`},
		{name: "limit room", fill: []string{"message", "one", "limit", "limited"}, call: `outbox_limit_room('topic', ARRAY['t'], ARRAY[2 * $n], true)`},
		{name: "limit use", fill: []string{"message", "limit"}, call: `outbox_limit_use('topic', ARRAY[('t', ` + allIDs + `)::pawl.outbox_counted])`},
		{name: "limit purge", fill: []string{"message", "limit", "limited"}, call: `outbox_limit_purge()`},
		{name: "purge", fill: []string{"message", "done", "unique", "attempts"}, call: `outbox_purge('1 h', $n)`, rows: true},
		{name: "purge of one join", fill: []string{"message", "done", "join", "ended", "member"}, call: `outbox_purge('1 h', $n)`, rows: true},
		{name: "purge of what was discarded", fill: []string{"message", "failed", "over"}, call: `outbox_purge('1 h', $n)`, rows: true},
		{name: "unique purge", fill: []string{"unique"}, call: `outbox_unique_purge(ARRAY[1::bigint], ARRAY[$n], 1000)`},
		{name: "timer dispatch", fill: []string{"timer"}, call: `timer_dispatch($n)`},
		{name: "timer claim", fill: []string{"timer"}, call: `timer_claim_rows($owner, '1 h', 100)`, fixed: true},
		{name: "timer end", fill: []string{"timer", "taken"}, call: `timer_end_rows($owner, ` + allUUIDs + `, 2, NULL)`},
		{name: "timer abandon", fill: []string{"timer", "taken"}, call: `timer_abandon_rows($owner, ` + allUUIDs + `, '0', NULL)`},
		{name: "timer reap", fill: []string{"timer", "taken"}, call: `timer_reap()`},
		{name: "timer schedule", call: `timer_schedule_rows(` + allIDs + `, ` + allUUIDs + `, ` + fillOf("'t'::text") + `, NULL, NULL, ` + fillOf("''::bytea") + `, ` + fillOf("1::bigint") + `, NULL, ` + fillOf("true") + `, ` + fillOf("0::bigint") + `, ARRAY(SELECT 'k' || i FROM generate_series(1, $n) i))`, rows: true},
		{name: "job fire", fill: []string{"message", "job"}, rows: true,
			call: `job_fire(ARRAY[$owner], ARRAY[1::bigint], ARRAY[timestamptz '2000-01-01'], ARRAY[now()], ARRAY[now()], ` + fillOf("$owner") + `, ARRAY(SELECT timestamptz '2001-01-01' + i * interval '1 minute' FROM generate_series(1, $n) i), ARRAY(SELECT i + $n FROM generate_series(1, $n) i), ` + allUUIDs + `, ` + fillOf("0::bigint") + `)`},
		{name: "job claim", fill: []string{"message", "ready", "job", "job_run"}, call: `job_claim_runs($owner, '1 h', 1000)`, rows: true},
		{name: "job settle", fill: []string{"message", "done", "job", "job_run"}, call: `job_settle()`},
		{name: "job remove", fill: []string{"message", "ready", "job", "job_run"}, call: `job_remove('j')`, rows: true},
		{name: "inbox ack", fill: []string{"message", "one", "inbox"}, call: `inbox_ack($owner, ` + allIDs + `)`, rows: true},
		{name: "inbox fail", fill: []string{"message", "one", "inbox"}, call: `inbox_fail($owner, ` + allIDs + `, 'e')`, rows: true},
	}
}

// work is a node of a plan with the rows that passed through it, those of filters included.
type work struct {
	Rows, Loops float64
	Filter      string
	Plans       []work
}

func (w *work) UnmarshalJSON(text []byte) error {
	var node struct {
		Rows    float64 `json:"Actual Rows"`
		Loops   float64 `json:"Actual Loops"`
		Removed float64 `json:"Rows Removed by Filter"`
		Joined  float64 `json:"Rows Removed by Join Filter"`
		Checked float64 `json:"Rows Removed by Index Recheck"`
		Filter  string
		Plans   []work
	}
	err := json.Unmarshal(text, &node)
	*w = work{Rows: node.Rows + node.Removed + node.Joined + node.Checked, Loops: node.Loops, Filter: node.Filter, Plans: node.Plans}
	return err
}

// listed matches a filter that compares each row with each element of a list.
var listed = regexp.MustCompile(`(ANY|ALL) \(\$\d+\)`)

// rows adds up the work of a plan. What is compared with a list of n counts n times.
func (w *work) rows(n int) (sum float64) {
	sum = w.Rows * w.Loops
	if listed.MatchString(w.Filter) {
		sum *= float64(n)
	}
	for i := range w.Plans {
		sum += w.Plans[i].rows(n)
	}
	return sum
}

// heat runs calls in a session that reports the plan of every statement within routines.
type heat struct {
	*pgx.Conn
	table func(string) string
	n     int
	warmth
}

// warmth is the work of a call: rows of all its statements.
type warmth struct {
	work, most float64
	worst      string // the statement with most work
}

func newHeat(t *testing.T, db dbtest.Database) *heat {
	t.Helper()
	h := &heat{table: db.Table}
	config := db.DB.(*postgres.DB).Pool().Config().ConnConfig.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		_, text, ok := strings.Cut(notice.Message, "plan:\n")
		var plan struct {
			Query string `json:"Query Text"`
			Plan  work
		}
		if !ok || json.Unmarshal([]byte(text), &plan) != nil {
			return
		}
		rows := plan.Plan.rows(h.n)
		if h.work += rows; rows > h.most {
			h.most, h.worst = rows, plan.Query
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	enginetest.Must(t, err)
	h.Conn = conn
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	h.exec(t, `LOAD 'auto_explain'; SET auto_explain.log_analyze = on; SET auto_explain.log_timing = off; SET auto_explain.log_nested_statements = on;
		SET auto_explain.log_format = json; SET auto_explain.log_level = notice; SET statement_timeout = '5min'`)
	return h
}

func (h *heat) exec(t *testing.T, query string) {
	t.Helper()
	query = strings.NewReplacer("$n", fmt.Sprint(h.n), "$owner", "uuid '11111111-1111-1111-1111-111111111111'", "$schema", strings.Trim(h.table(""), `".`), "pawl.", h.table("")).Replace(query)
	_, err := h.Exec(t.Context(), query, pgx.QueryExecModeSimpleProtocol)
	enginetest.Must(t, err)
}

// of returns the work of a call.
func (h *heat) of(t *testing.T, call string) warmth {
	t.Helper()
	h.warmth = warmth{}
	h.exec(t, `SAVEPOINT call; SET LOCAL auto_explain.log_min_duration = 0`)
	h.exec(t, `SELECT * FROM pawl.`+call)
	h.exec(t, `ROLLBACK TO call`)
	return h.warmth
}

// statistics are what the planner may believe of tables. The last one reads them as they are.
var statistics = []struct{ name, known string }{
	{"stale", ""},
	{"tiny", "UPDATE pg_class SET reltuples = 1, relpages = 1000000 WHERE relkind IN ('r', 'i') AND relnamespace = '$schema'::regnamespace"},
	{"huge", "UPDATE pg_class SET reltuples = 10000000, relpages = 1 WHERE relkind IN ('r', 'i') AND relnamespace = '$schema'::regnamespace"},
	{"fresh", analyze},
}

const analyze = "ANALYZE pawl.outbox_message, pawl.outbox_ready, pawl.outbox_claim, pawl.outbox_done, pawl.outbox_exception, pawl.outbox_attempt, pawl.outbox_order, pawl.outbox_join, " +
	"pawl.outbox_join_member, pawl.outbox_join_wait, pawl.outbox_join_result, pawl.outbox_lane, pawl.outbox_limit_claim, pawl.outbox_unique, pawl.timer, pawl.job_run, pawl.inbox"

// keepStatistics keeps the server from renewing the planner's statistics of a schema, as it would during a test.
func keepStatistics(t *testing.T, db dbtest.Database) {
	t.Helper()
	query := `DO $$DECLARE r regclass; BEGIN FOR r IN SELECT c.oid FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = '$schema'::regnamespace LOOP
		EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', r); END LOOP; END$$`
	_, err := db.SQL.ExecContext(t.Context(), strings.ReplaceAll(query, "$schema", schemaOf(db)))
	enginetest.Must(t, err)
}

func schemaOf(db dbtest.Database) string { return strings.Trim(db.Table(""), `".`) }

// D-405: one value on five times as many rows, up to 50 000 with PAWL_LONG, costs no routine more than its share,
// whether the planner knows nothing of the tables, knows them as empty, tiny, huge, or as they are.
func TestOneHotValue(t *testing.T) {
	db := dbtest.OpenPostgres(t)
	keepStatistics(t, db)
	h := newHeat(t, db)
	few, many := 500, 2_500
	if os.Getenv("PAWL_LONG") != "" {
		few, many = 10_000, 50_000
	}
	for _, known := range []bool{false, true} {
		states := statistics
		if known {
			h.exec(t, analyze) // they are empty
		} else {
			states = []struct{ name, known string }{{"missing", ""}}
		}
		for _, c := range hots() {
			t.Run(fmt.Sprintf("%s/%v", c.name, known), func(t *testing.T) {
				small, large := h.filled(t, c, few, states), h.filled(t, c, many, states)
				for i, state := range states {
					most := 10 * small[i].work // a plan that changes costs a factor, one that compares all with all 25
					if c.fixed {
						most = 2 * small[i].work
					}
					if small[i].work < 1 || large[i].work > most {
						t.Errorf("statistics %s: %.0f rows, and %.0f of five times as many; most by %s", state.name, small[i].work, large[i].work, large[i].worst)
					}
				}
			})
		}
	}
}

// filled returns the work of a call on n rows in each state of the statistics.
func (h *heat) filled(t *testing.T, c hot, n int, states []struct{ name, known string }) (got []warmth) {
	t.Helper()
	if h.n = n; c.rows {
		h.n = n / 5
	}
	h.exec(t, `ROLLBACK; BEGIN`)
	for _, part := range c.fill {
		h.exec(t, stored[part])
	}
	for _, state := range states {
		if state.known != "" {
			h.exec(t, state.known)
		}
		got = append(got, h.of(t, c.call))
	}
	h.exec(t, `ROLLBACK`)
	return got
}
