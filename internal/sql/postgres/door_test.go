package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// param is one parameter of a public routine: the value in a valid call ("" omits it), values
// that are accepted, and values that are refused with their messages.
type param struct {
	name, good string
	taken      []string
	refused    map[string]string
}

// doorRoutine is a public routine, as the table of the suite has it.
type doorRoutine struct {
	name   string
	params []param
}

func (r *doorRoutine) call(but, value string) string {
	var args []string
	for _, p := range r.params {
		v := p.good
		if p.name == but {
			v = value
		}
		if v != "" {
			args = append(args, p.name+" => "+v)
		}
	}
	return "SELECT * FROM pawl." + r.name + "(" + strings.Join(args, ", ") + ")"
}

const (
	zeroID   = "'00000000-0000-0000-0000-000000000000'"
	ownID    = "'11111111-1111-4111-8111-111111111111'"
	long     = "repeat('ü', 256)"
	longest  = "repeat('ü', 255)"
	megabyte = "repeat('x', 1048577)"
	blank    = "E' \\t\\n\\u00a0\\u3000'"
)

func required(name, field, good string) param {
	return param{name, good, []string{longest}, map[string]string{
		"NULL": field + ": null", "''": field + ": empty or blank", blank: field + ": empty or blank", long: field + ": more than 255 characters",
	}}
}

func optional(name, field string) param {
	return param{name, "", []string{"NULL", "''", longest}, map[string]string{long: field + ": more than 255 characters"}}
}

func id(name, field, good string) param {
	return param{name, good, nil, map[string]string{"NULL": field + ": null", zeroID: field + ": zero"}}
}

func newID(name string) param { // an id that the caller may supply
	return param{name, "", []string{"NULL", zeroID, "gen_random_uuid()"}, nil}
}

func owner() param { return id("owner_token", "owner token", ownID) }

func leaseSeconds() param {
	const short = "lease: shorter than a millisecond"
	return param{"lease_seconds", "30", []string{"1", "2147483647"}, map[string]string{"NULL": "lease: null", "0": short, "-1": short}}
}

func batchSize() param {
	return param{"batch_size", "", []string{"1", "2147483647"}, map[string]string{"NULL": "batch size: null", "0": "batch size: less than 1", "-5": "batch size: less than 1"}}
}

func positions() param {
	return param{"ids", "'{7}'", []string{"NULL", "'{}'", "'{NULL}'", "'{7,7,-1,0,9223372036854775807,-9223372036854775808,281474976710656}'"}, nil}
}

func uuids() param {
	return param{"ids", "'{}'", []string{"NULL", "'{NULL}'", "ARRAY[" + zeroID + "," + ownID + "," + ownID + "]::uuid[]"}, nil}
}

func failure() param { return param{"error", "", []string{"NULL", "''", megabyte}, nil} }

func delay() param {
	return param{"delay", "", []string{"NULL", "'0'", "'290 years'"}, map[string]string{"'-1 second'": "delay: negative", "'291 years'": "delay: more than 290 years"}}
}

func processedBy() param { return optional("processed_by", "processed by") }

func attempts() param {
	return param{"max_attempts", "", []string{"0", "2147483647"}, map[string]string{"NULL": "max attempts: null", "-1": "max attempts: negative"}}
}

func queue() param { return required("queue", "queue", "") }

func headers() param {
	return param{"headers", "", []string{"NULL", "'{}'", `'{"a":"b","n":1,"t":true,"e":""}'`}, map[string]string{
		`'[1]'`: "headers: not an object", `'"x"'`: "headers: not an object", `'null'`: "headers: not an object",
		`'{"a":null}'`: "header value: not a text", `'{"a":{"b":1}}'`: "header value: not a text", `'{"a":["b"]}'`: "header value: not a text",
		`'{"":"b"}'`: "header name: empty or blank", "jsonb_build_object(" + long + ", 'x')": "header name: more than 255 characters",
		"jsonb_build_object('k', repeat('x', 16384))": "headers: more than 16384 bytes",
	}}
}

// jobHeaders and inboxHeaders are headers of messages that do not expire.
func jobHeaders() param {
	p := headers()
	p.refused[expiring] = "headers: pawl-expires: runs of a job do not expire"
	return p
}

func inboxHeaders() param {
	p := headers()
	p.refused[expiring] = "headers: pawl-expires: messages of an inbox do not expire"
	return p
}

const expiring = `'{"pawl-expires":"2099-01-01T00:00:00Z"}'`

func payload() param {
	return param{"payload", "'x'::text", []string{"''::text", "'{\"a\":1}'::jsonb", "'null'::jsonb", "repeat('x', 1048576)"}, map[string]string{
		"NULL::text": "payload: null", "NULL::jsonb": "payload: null", megabyte: "payload: more than 1048576 bytes"}}
}

func priority() param {
	const words = "priority: not within -100 to 100"
	return param{"priority", "", []string{"-100", "100"}, map[string]string{"NULL": "priority: null", "-101": words, "101": words}}
}

// moment is a time: what is past means now, whatever the year.
func moment(name, field, good string) param {
	return param{name, good, []string{"now()", "'0001-01-01'", "'4000-01-01 BC'", "'9999-12-31 23:59:59Z'"}, map[string]string{
		"'infinity'": field + ": infinite", "'-infinity'": field + ": infinite", "'10000-01-01 00:00Z'": field + ": after the year 9999"}}
}

func withNull(p param, want string) param {
	if want == "" {
		p.taken = append(p.taken, "NULL")
	} else {
		p.refused["NULL"] = want
	}
	return p
}

func duration() param {
	const short = "duration: shorter than 1s"
	return param{"lease_seconds", "30", []string{"1", "2147483647"}, map[string]string{"NULL": "duration: null", "0": short, "-1": short}}
}

const lacking = "rate: 0, with a period or a burst"

const fields = "schedule: neither five or six fields nor a descriptor"

const misfires = "misfire policy: neither once, none nor all"

const overlaps = "overlap policy: neither allow nor skip"

const shortPeriod = "period: not within a microsecond and 9e9 seconds"

// door is the table of all public routines, with every parameter.
func door(f *doorFixture) []doorRoutine {
	name := required("name", "name", "'close-books'")
	wait := required("wait_topic", "topic", "")
	return []doorRoutine{
		{"outbox_enqueue", []param{required("topic", "topic", "'t'"), payload(), optional("correlation_id", "correlation id"),
			withNull(moment("due_time_utc", "due time", ""), ""), newID("message_id"), headers(), queue(), priority()}},
		{"outbox_enqueue_unique", []param{required("topic", "topic", "'t'"), payload(), required("unique_key", "unique key", "'k'"),
			{"scope", "", []string{"'not_done'", "'not_begun'"}, map[string]string{"NULL": "scope: neither not_done nor not_begun", "''": "scope: neither not_done nor not_begun"}},
			{"period_seconds", "", []string{"NULL", "0.000001", "9e9"}, map[string]string{"0": shortPeriod, "-1": shortPeriod, "1e10": shortPeriod, "'NaN'": shortPeriod, "'infinity'": shortPeriod}},
			{"replace", "", []string{"true", "false"}, map[string]string{"NULL": "replace: null"}}, {"debounce", "", []string{"true", "false"}, map[string]string{"NULL": "debounce: null"}},
			withNull(moment("due_time_utc", "due time", ""), ""), queue(), priority(), optional("correlation_id", "correlation id"), headers()}},
		{"outbox_claim", []param{owner(), leaseSeconds(), batchSize(), queue(), {"suspects", "", []string{"true", "false"}, map[string]string{"NULL": "suspects: null"}}}},
		{"outbox_set_result", []param{owner(), {"id", "7", []string{"NULL", "-1", "9223372036854775807"}, nil},
			{"result", "'x'", []string{"''", "repeat('ü', 32768)"}, map[string]string{"NULL": "result: null", "repeat('ü', 32769)": "result: more than 65536 bytes"}}}},
		{"outbox_ack", []param{owner(), positions(), processedBy()}},
		{"outbox_abandon", []param{owner(), positions(), failure(), delay()}},
		{"outbox_fail", []param{owner(), positions(), failure()}},
		{"outbox_release", []param{owner(), positions(), delay()}},
		{"outbox_extend", []param{owner(), positions(), leaseSeconds()}},
		{"outbox_reap_expired", nil},
		{"outbox_redrive", []param{positions(), reason()}},
		{"outbox_listen", []param{queue()}},
		{"outbox_unlisten", []param{queue()}},
		{"outbox_join_start", []param{
			{"expected_steps", "2", []string{"1", "2147483647"}, map[string]string{"NULL": "expected steps: null", "0": "expected steps: not within 1 to 2147483647", "-1": "expected steps: not within 1 to 2147483647"}},
			optional("grouping_key", "grouping key"),
			{"metadata", "", []string{"NULL", "''", "repeat('x', 1048576)"}, map[string]string{megabyte: "metadata: more than 1048576 bytes"}},
			withNull(moment("deadline_utc", "deadline", ""), ""), newID("join_id"), wait, queue()}},
		{"outbox_join_attach", []param{id("join_id", "join id", f.join), id("message_id", "message id", f.message)}},
		{"outbox_join_report", []param{id("join_id", "join id", f.join), id("message_id", "message id", f.message),
			{"failed", "", []string{"true", "false"}, map[string]string{"NULL": "failed: null"}}}},
		{"outbox_join_wait", []param{id("join_id", "join id", f.join), withNull(optional("on_complete_topic", "topic"), ""), onPayload("on_complete_payload"),
			withNull(optional("on_fail_topic", "topic"), ""), onPayload("on_fail_payload"),
			{"fail_if_any_step_failed", "", []string{"true", "false"}, map[string]string{"NULL": "fail if any step failed: null"}}, wait, queue()}},
		{"outbox_join_cancel", []param{id("join_id", "join id", f.join)}},
		{"flow_send", []param{id("flow", "flow", f.message), known(required("name", "name", "'n'")),
			{"payload", "", []string{"'null'", `'{"n":1}'`}, map[string]string{"NULL": "payload: null", `'"` + strings.Repeat("x", 65536) + `"'`: "payload: more than 65536 bytes"}}}},
		{"timer_schedule", []param{required("topic", "topic", "'t'"), {"payload", "'x'", []string{"''"}, map[string]string{"NULL": "payload: null", megabyte: "payload: more than 1048576 bytes"}},
			withNull(moment("due_time", "due time", "now()"), "due time: null"), optional("correlation_id", "correlation id"),
			{"key", "", []string{"NULL", "''", longest}, map[string]string{blank: "key: empty or blank", long: "key: more than 255 characters"}},
			newID("timer_id"), headers(), queue(), priority()}},
		{"timer_cancel_key", []param{required("key", "key", "'k'")}},
		{"timer_cancel", []param{{"timer_id", f.timer, []string{"NULL", zeroID, ownID}, nil}}},
		{"timer_reschedule", []param{{"timer_id", f.timer, []string{"NULL", zeroID, ownID}, nil}, withNull(moment("due_time", "due time", "now()"), "due time: null")}},
		{"timer_claim", []param{owner(), leaseSeconds(), batchSize()}},
		{"timer_ack", []param{owner(), uuids()}},
		{"timer_abandon", []param{owner(), uuids(), failure(), delay()}},
		{"timer_fail", []param{owner(), uuids(), failure()}},
		{"timer_reap_expired", nil},
		{"job_put", []param{required("job_name", "job name", "'weekly'"),
			{"schedule", "'0 9 * * 1'", []string{"'@daily'", "'@every 7s'", "'0 0 9 * * MON-FRI'"}, map[string]string{"NULL": "schedule: null", "''": "schedule: empty or blank", blank: "schedule: empty or blank",
				"'* * * *'": fields, "'* * * * * * *'": fields, "'TZ=UTC'": fields, "'@'": fields, "repeat('0 ', 129)": "schedule: more than 256 characters"}},
			required("topic", "topic", "'t'"), {"payload", "", []string{"''", "'x'"}, map[string]string{"NULL": "payload: null", megabyte: "payload: more than 1048576 bytes"}},
			{"zone", "", []string{"'UTC'", "'Europe/Berlin'", "'America/Argentina/Buenos_Aires'", "'Etc/GMT+5'"}, map[string]string{"NULL": "zone: null", "''": "zone: empty or blank", blank: "zone: empty or blank",
				long: "zone: more than 255 characters", "'Local'": "zone: unknown", "'CET-1CEST'": "zone: unknown", "'Mars/Olympus'": "zone: unknown", "'../etc/passwd'": "zone: unknown", "'-03'": "zone: unknown"}},
			jobHeaders(), queue(), priority(),
			{"misfire", "", []string{"'once'", "'none'", "'all'"}, map[string]string{"NULL": misfires, "''": misfires, "'Once'": misfires}},
			{"misfire_limit", "", []string{"1", "1000"}, map[string]string{"NULL": "misfire limit: not within 1 to 1000", "0": "misfire limit: not within 1 to 1000", "1001": "misfire limit: not within 1 to 1000"}},
			{"overlap", "", []string{"'allow'", "'skip'"}, map[string]string{"NULL": overlaps, "'queue'": overlaps}}}},
		{"job_trigger", []param{known(required("job_name", "job name", "'report'"))}},
		{"job_delete", []param{required("job_name", "job name", "'report'")}},
		{"job_run_claim", []param{owner(), leaseSeconds(), batchSize()}},
		{"job_run_ack", []param{owner(), positions(), processedBy()}},
		{"job_run_abandon", []param{owner(), positions(), failure(), delay()}},
		{"job_run_fail", []param{owner(), positions(), failure()}},
		{"job_run_reap_expired", nil},
		{"inbox_enqueue", []param{required("source", "source", "'bank'"), required("message_id", "message id", "'1'"), required("topic", "topic", "'t'"),
			{"payload", "'x'", []string{"''"}, map[string]string{"NULL": "payload: null", megabyte: "payload: more than 1048576 bytes"}},
			{"hash", "", []string{"NULL", "''", `'\x00ff'`}, map[string]string{"decode(repeat('00', 65), 'hex')": "hash: more than 64 bytes"}}, optional("correlation_id", "correlation id"),
			withNull(moment("due_time_utc", "due time", ""), ""), inboxHeaders(), queue(), priority()}},
		{"inbox_claim", []param{owner(), leaseSeconds(), batchSize(), queue(), attempts()}},
		{"inbox_ack", []param{owner(), positions(), processedBy()}},
		{"inbox_abandon", []param{owner(), positions(), failure(), delay(), attempts()}},
		{"inbox_fail", []param{owner(), positions(), failure()}},
		{"inbox_reap_expired", nil},
		{"lease_acquire", []param{name, required("owner", "owner", "'me'"), duration(), newID("holder")}},
		{"lease_renew", []param{name, id("holder", "holder", ownID), duration()}},
		{"lease_release", []param{name, id("holder", "holder", ownID)}},
		{"lease_guard", []param{known(name), id("holder", "holder", "'"+f.holder+"'"), {"token", f.token, nil, map[string]string{"NULL": "token: null"}}}},
		{"limit_set", []param{subjectKind(), required("name", "topic", "'t'"), option("concurrency", "5", "10000"),
			{"rate", "100", []string{"1", "10001", "1000000"}, map[string]string{"NULL": lacking, "0": lacking, "-1": "rate: negative", "1000001": "rate: more than 1000000"}},
			{"period_seconds", "100", []string{"NULL", "0", "0.01", "86400"}, map[string]string{
				"-1": "period: negative", "0.00009": "period: less than 100us", "86401": "period: more than 24h", "'NaN'": "period: more than 24h",
				"'infinity'": "period: more than 24h", "0.0099": "rate: more than one in 100us"}},
			option("burst", "", "1000000"), reason()}},
		{"limit_remove", []param{subjectKind(), required("name", "topic", "'t'"), reason()}},
	}
}

func subjectKind() param {
	return param{"kind", "'topic'", []string{"'queue'"}, map[string]string{"NULL": "kind: null", "''": "kind: neither queue, topic nor each", "'table'": "kind: neither queue, topic nor each", "'each'": "each: does not end in *"}}
}

// option is a number of which 0 and null are none.
func option(name, good, most string) param {
	return param{name, good, []string{"1", most, "NULL", "0"}, map[string]string{"-1": name + ": negative", most + "+1": name + ": more than " + most}}
}

func reason() param {
	return param{"reason", "", []string{"NULL", "''", "repeat('ü', 1000)"}, map[string]string{"repeat('ü', 1001)": "reason: more than 1000 characters"}}
}

// known removes the values that name something that does not exist.
func known(p param) param {
	p.taken = nil
	return p
}

func onPayload(name string) param {
	return param{name, "", []string{"NULL", "''", `'{"n":1}'`}, map[string]string{megabyte: "payload: more than 1048576 bytes"}}
}

// doorFixture has what the valid calls of the table refer to. A call is rolled back.
type doorFixture struct {
	t                                   *testing.T
	place                               *enginetest.Place
	conn                                *pgx.Conn
	join, message, timer, holder, token string
}

func (f *doorFixture) sql(query string) string { return f.place.Names.Render(query) }

func (f *doorFixture) value(query string, args ...any) (text string) {
	f.t.Helper()
	enginetest.Must(f.t, f.conn.QueryRow(f.t.Context(), f.sql("SELECT ("+query+")::text"), args...).Scan(&text))
	return text
}

func (f *doorFixture) is(want, query string, args ...any) {
	f.t.Helper()
	if got := f.value(query, args...); got != want {
		f.t.Errorf("%s: %s, want %s", query, got, want)
	}
}

// try runs a call and rolls it back.
func (f *doorFixture) try(query string) error {
	_, err := f.conn.PgConn().Exec(f.t.Context(), "BEGIN; "+f.sql(query)).ReadAll()
	_, back := f.conn.PgConn().Exec(f.t.Context(), "ROLLBACK").ReadAll()
	enginetest.Must(f.t, back)
	return err
}

func openDoor(t *testing.T, p *enginetest.Place, conn *pgx.Conn) *doorFixture {
	t.Helper()
	f := &doorFixture{t: t, place: p, conn: conn}
	f.join = "'" + f.value(`pawl.outbox_join_start(2)`) + "'"
	f.message = "'" + f.value(`pawl.outbox_enqueue('t', 'x')`) + "'"
	f.value(`coalesce(pawl.outbox_join_attach(` + f.join + `, ` + f.message + `)::text, '')`)
	f.timer = "'" + f.value(`pawl.timer_schedule('t', 'x', now() + interval '1 hour')`) + "'"
	_, err := conn.Exec(t.Context(), f.sql(`INSERT INTO pawl.job (id, name, topic, payload, lane, schedule, zone, misfire, misfire_limit, overlap, spread, shift)
		VALUES (gen_random_uuid(), 'report', 't', 'x', pawl.outbox_lane_id('default', 0::smallint), '@daily', 'UTC', 0, 1, 0, 0, 0)`))
	enginetest.Must(t, err)
	enginetest.Must(t, conn.QueryRow(t.Context(), f.sql(`SELECT holder_id::text, token::text FROM pawl.lease_acquire('close-books', 'me', 60)`)).Scan(&f.holder, &f.token))
	return f
}

// D-8, D-2: every routine refuses what Go refuses, argument for argument, and accepts the
// rest.
func TestDoorArguments(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	checkArguments(f)
}

func checkArguments(f *doorFixture) {
	table := door(f)
	f.checkComplete(table)
	for _, r := range table {
		if err := f.try(r.call("", "")); err != nil {
			f.t.Errorf("%s: %v", r.call("", ""), err)
		}
		for _, p := range r.params {
			for _, v := range p.taken {
				if err := f.try(r.call(p.name, v)); err != nil {
					f.t.Errorf("%.200s: %v", r.call(p.name, v), err)
				}
			}
			for _, v := range slices.Sorted(maps.Keys(p.refused)) {
				f.refused(r.call(p.name, v), p.refused[v])
			}
		}
	}
}

func (f *doorFixture) refused(call, want string) {
	f.t.Helper()
	err := f.try(call)
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Message != "invalid argument: "+want || e.Code != "22023" && e.Code != "22004" {
		f.t.Errorf("%.200s: %v, want %q", call, err, want)
	}
}

// checkComplete checks that the table has every public routine with every parameter: those
// whose parameters have no prefix.
func (f *doorFixture) checkComplete(table []doorRoutine) {
	var have []string
	for _, r := range table {
		line := r.name + "("
		for _, p := range r.params {
			line += " " + p.name
		}
		have = append(have, line)
	}
	tx, err := f.conn.Begin(f.t.Context())
	enginetest.Must(f.t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(f.t.Context(), `SET LOCAL search_path = pg_catalog, pg_temp`)
	enginetest.Must(f.t, err)
	rows, err := tx.Query(f.t.Context(), `SELECT DISTINCT p.proname || '(' || coalesce((SELECT string_agg(' ' || a.name, '' ORDER BY a.nth)
		  FROM unnest(p.proargnames) WITH ORDINALITY a(name, nth) WHERE a.nth <= p.pronargs), '')
		FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = $1 AND (p.pronargs > 0 AND p.proargnames[1] NOT LIKE 'p\_%' OR p.proname LIKE '%\_reap\_expired')`, f.place.Names.Schema)
	enginetest.Must(f.t, err)
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	enginetest.Must(f.t, err)
	slices.Sort(have)
	slices.Sort(there)
	if !slices.Equal(have, there) {
		f.t.Errorf("the table has\n%s\nthe schema\n%s", strings.Join(have, "\n"), strings.Join(there, "\n"))
	}
}

// D-8: the words are Go's.
func TestDoorSpeaksAsGo(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	o := parts.NewOutbox(db, worker.Options{})
	text := strings.Repeat("ü", 256)
	far := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	_, noSteps := parts.NewJoins(db, o, join.Options{}, nil).Start(t.Context(), join.Spec{})
	_, longKey := parts.NewJoins(db, o, join.Options{}, nil).Start(t.Context(), join.Spec{ExpectedSteps: 1, GroupingKey: text})
	limited := func(kind throttle.Kind, name string, b throttle.Bounds, reason string) error {
		_, err := throttle.New(db, nil).Set(t.Context(), kind, name, b, reason)
		return err
	}
	_, timerKey := parts.NewTimers(db, o, timer.Options{}, nil).Schedule(t.Context(), timer.Timer{Due: far.AddDate(-1, 0, 0), Key: text})
	for call, want := range map[string]error{
		`pawl.outbox_enqueue('', 'x')`:                                                          (&outbox.Message{}).Validate(),
		`pawl.outbox_enqueue(` + blank + `, 'x')`:                                               (&outbox.Message{Topic: "\u3000"}).Validate(),
		`pawl.outbox_enqueue(` + long + `, 'x')`:                                                (&outbox.Message{Topic: text}).Validate(),
		`pawl.outbox_enqueue('t', ` + megabyte + `)`:                                            (&outbox.Message{Topic: "t", Payload: make([]byte, 1<<20+1)}).Validate(),
		`pawl.outbox_enqueue('t', 'x', correlation_id => ` + long + `)`:                         (&outbox.Message{Topic: "t", CorrelationID: text}).Validate(),
		`pawl.outbox_enqueue('t', 'x', queue => ` + long + `)`:                                  (&outbox.Message{Topic: "t", Queue: text}).Validate(),
		`pawl.outbox_enqueue('t', 'x', priority => 101)`:                                        (&outbox.Message{Topic: "t", Priority: 101}).Validate(),
		`pawl.outbox_enqueue('t', 'x', due_time_utc => '10000-01-01 00:00Z')`:                   (&outbox.Message{Topic: "t", Due: far}).Validate(),
		`pawl.outbox_enqueue('t', 'x', headers => '{"":"x"}')`:                                  (&outbox.Message{Topic: "t", Headers: map[string]string{"": "x"}}).Validate(),
		`pawl.outbox_enqueue('t', 'x', headers => jsonb_build_object('k', repeat('x', 16384)))`: (&outbox.Message{Topic: "t", Headers: map[string]string{"k": strings.Repeat("x", 16384)}}).Validate(),
		`pawl.outbox_join_start(0)`:                                                             noSteps,
		`pawl.outbox_join_start(1, grouping_key => ` + long + `)`:                               longKey,
		`pawl.timer_schedule('t', 'x', now(), key => ` + long + `)`:                             timerKey,
		`pawl.limit_set('table', 't', 1)`:                                                       limited("table", "t", throttle.Bounds{Concurrency: 1}, ""),
		`pawl.limit_set('queue', '', 1)`:                                                        limited(throttle.Queue, "", throttle.Bounds{Concurrency: 1}, ""),
		`pawl.limit_set('topic', ` + long + `, 1)`:                                              limited(throttle.Topic, text, throttle.Bounds{Concurrency: 1}, ""),
		`pawl.limit_set('topic', 't', 0)`:                                                       limited(throttle.Topic, "t", throttle.Bounds{}, ""),
		`pawl.limit_set('topic', 't', 1, burst => 1)`:                                           limited(throttle.Topic, "t", throttle.Bounds{Concurrency: 1, Burst: 1}, ""),
		`pawl.limit_set('topic', 't', 1, period_seconds => 1)`:                                  limited(throttle.Topic, "t", throttle.Bounds{Concurrency: 1, Period: time.Second}, ""),
		`pawl.limit_set('topic', 't', -1)`:                                                      limited(throttle.Topic, "t", throttle.Bounds{Concurrency: -1}, ""),
		`pawl.limit_set('topic', 't', 10001)`:                                                   limited(throttle.Topic, "t", throttle.Bounds{Concurrency: 10_001}, ""),
		`pawl.limit_set('topic', 't', rate => 1000001)`:                                         limited(throttle.Topic, "t", throttle.Bounds{Rate: 1_000_001}, ""),
		`pawl.limit_set('topic', 't', rate => 10001)`:                                           limited(throttle.Topic, "t", throttle.Bounds{Rate: 10_001}, ""),
		`pawl.limit_set('topic', 't', rate => 1, period_seconds => 0.00005)`:                    limited(throttle.Topic, "t", throttle.Bounds{Rate: 1, Period: 50 * time.Microsecond}, ""),
		`pawl.limit_set('topic', 't', rate => 1, period_seconds => 86401)`:                      limited(throttle.Topic, "t", throttle.Bounds{Rate: 1, Period: 24*time.Hour + time.Second}, ""),
		`pawl.limit_set('topic', 't', rate => 1, burst => 1000001)`:                             limited(throttle.Topic, "t", throttle.Bounds{Rate: 1, Burst: 1_000_001}, ""),
		`pawl.limit_set('topic', 't', 1, reason => repeat('ü', 1001))`:                          limited(throttle.Topic, "t", throttle.Bounds{Concurrency: 1}, strings.Repeat("ü", 1001)),
	} {
		if want == nil {
			t.Errorf("%s: Go has nothing against it", call)
			continue
		}
		f.refused("SELECT "+call, strings.TrimPrefix(want.Error(), "invalid argument: "))
	}
}

// D-8: the limit of a payload can be raised, as in Go.
func TestDoorPayloadLimit(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	_, err := f.conn.Exec(t.Context(), `SET pawl_sql.max_payload = 5`)
	enginetest.Must(t, err)
	f.refused(`SELECT pawl.outbox_enqueue('t', 'übü!')`, "payload: more than 5 bytes")
	enginetest.Must(t, f.try(`SELECT pawl.outbox_enqueue('t', 'übü')`))
	_, err = f.conn.Exec(t.Context(), `SET pawl_sql.max_payload = 2000000`)
	enginetest.Must(t, err)
	enginetest.Must(t, f.try(`SELECT pawl.outbox_enqueue('t', `+megabyte+`)`))
}

// D-10, D-8, D-494: an id that is stored adds nothing, as a message or a timer that is yet to fire, whoever made it; an id that looks as if pawl
// had made it, and a position that is taken, do not prevent storing.
func TestDoorKnownIDs(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	f.is("1", `SELECT count(*) FROM pawl.outbox_message`)
	f.is(strings.Trim(f.message, "'"), `pawl.outbox_enqueue('t', 'again', message_id => `+f.message+`)`)
	f.is("1", `SELECT count(*) FROM pawl.outbox_message`)
	for range 2 {
		f.is(strings.Trim(ownID, "'"), `pawl.outbox_enqueue('t', 'own', message_id => `+ownID+`)`)
		f.is("2", `SELECT count(*) FROM pawl.outbox_message`)
		f.is("2", `SELECT sum(n) FROM pawl.outbox_ready`)
	}
	// The position of the first message, under another id of version 8.
	f.value(`pawl.outbox_enqueue('t', 'other', message_id => overlay(` + f.message + ` PLACING '00000000' FROM 1 FOR 8)::uuid)`)
	f.is("3", `SELECT count(*) FROM pawl.outbox_message`)
	// The sequence was put back, as after a restore.
	f.value(`setval('pawl.outbox_single', (SELECT min(id) FROM pawl.outbox_message), false)`)
	f.value(`pawl.outbox_enqueue('t', 'after')`)
	f.value(`pawl.outbox_enqueue('t', 'after', message_id => gen_random_uuid())`)
	f.is("5", `SELECT count(*) FROM pawl.outbox_message`)
	f.is("5", `SELECT sum(n) FROM pawl.outbox_ready`)
	f.value(`pawl.outbox_enqueue('t', 'early', message_id => pawl.timer_schedule('t', 'x', now() + interval '1 hour'))`)
	f.is("5", `SELECT count(*) FROM pawl.outbox_message`)
	enginetest.CheckPlaces(t, p)
}

// OBX-012, D-8, D-11: what is due in the future is not claimed, in any component;
// what was due in any year of the past is.
func TestDoorClaimsWhatIsDue(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	past := []string{"'4000-01-01 BC'", "'0001-01-01'", "'1969-12-31 23:59Z'", "'1970-01-02'", "now() - interval '1 second'"}
	for _, due := range append(slices.Clone(past), "now() + interval '1 hour'", "'9999-12-31'") {
		f.value(`pawl.outbox_enqueue('due', 'x', due_time_utc => ` + due + `, queue => 'q')`)
		f.value(`pawl.timer_schedule('due', 'x', ` + due + `)`)
	}
	f.is(fmt.Sprint(len(past)), `SELECT count(*) FROM pawl.outbox_claim(`+ownID+`, 30, 50, 'q')`)
	f.is(fmt.Sprint(len(past)), `SELECT count(*) FROM pawl.timer_claim(`+ownID+`, 30)`)
	f.is("0", `SELECT count(*) FROM pawl.outbox_claim(`+ownID+`, 30, 50, 'q')`)
	f.is("0", `SELECT count(*) FROM pawl.timer_claim(`+ownID+`, 30)`)
	f.is("0", `SELECT count(*) FROM pawl.outbox_claim(`+ownID+`, 30, 50, 'nobody knows it')`)
	f.is("2", `SELECT count(*) FROM pawl.outbox WHERE queue = 'q' AND status = 0`)
}

// OBX-112, D-8: a lease lasts for as many seconds as were asked for, counted by the
// database's clock, in any component.
func TestDoorLeasesLastAsAsked(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	f.value(`pawl.job_trigger('report')`)
	f.value(`pawl.timer_schedule('t', 'x', now())`)
	f.inboxMessage("bank", "1", "")
	const claim = `SELECT count(*) FROM pawl.outbox_claim(` + ownID + `, 1, 1)`
	for _, c := range []struct{ before, call, until string }{
		{``, `SELECT count(*) FROM pawl.outbox_claim(` + ownID + `, $1, 1)`, `SELECT min(locked_until) FROM pawl.outbox_claim`},
		{claim, `SELECT pawl.outbox_extend(` + ownID + `, ARRAY(SELECT lo FROM pawl.outbox_claim), $1)`, `SELECT min(locked_until) FROM pawl.outbox_claim`},
		{``, `SELECT count(*) FROM pawl.job_run_claim(` + ownID + `, $1)`, `SELECT min(locked_until) FROM pawl.outbox_claim`},
		{``, `SELECT count(*) FROM pawl.timer_claim(` + ownID + `, $1)`, `SELECT locked_until FROM pawl.timer WHERE status = 1`},
		{``, `SELECT count(*) FROM pawl.inbox_claim(` + ownID + `, $1)`, `SELECT min(locked_until) FROM pawl.outbox_claim`},
		{``, `SELECT count(*) FROM pawl.inbox_claim(` + ownID + `, $1)`, `SELECT locked_until_utc FROM pawl.inbox`},
		{``, `SELECT count(*) FROM pawl.lease_acquire('l', 'me', $1)`, `SELECT lease_until_utc FROM pawl.lease WHERE name = 'l'`},
		{`SELECT count(*) FROM pawl.lease_acquire('l', 'me', 1, ` + ownID + `)`, `SELECT count(pawl.lease_renew('l', ` + ownID + `, $1))`, `SELECT lease_until_utc FROM pawl.lease WHERE name = 'l'`},
	} {
		for _, seconds := range []int{7, 4321} {
			f.lastsFor(c.before, c.call, c.until, seconds)
		}
	}
}

// lastsFor checks that a call makes a lease of exactly so many seconds, and rolls it back.
func (f *doorFixture) lastsFor(setup, call, end string, seconds int) {
	f.t.Helper()
	tx, err := f.conn.Begin(f.t.Context())
	enginetest.Must(f.t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	if setup != "" {
		_, err := tx.Exec(f.t.Context(), f.sql(setup))
		enginetest.Must(f.t, err)
	}
	var n int
	var before, after, until time.Time
	enginetest.Must(f.t, tx.QueryRow(f.t.Context(), `SELECT clock_timestamp()`).Scan(&before))
	enginetest.Must(f.t, tx.QueryRow(f.t.Context(), f.sql(call), seconds).Scan(&n))
	enginetest.Must(f.t, tx.QueryRow(f.t.Context(), `SELECT clock_timestamp()`).Scan(&after))
	enginetest.Must(f.t, tx.QueryRow(f.t.Context(), f.sql(end)).Scan(&until))
	lease := time.Duration(seconds) * time.Second
	if n != 1 || until.Before(before.Add(lease)) || until.After(after.Add(lease)) {
		f.t.Errorf("%s: %d until %v, asked for %v between %v and %v", call, n, until, lease, before, after)
	}
}

// inboxMessage puts a message into the inbox's queue, as package inbox does.
func (f *doorFixture) inboxMessage(source, message, hash string) (id string) {
	f.t.Helper()
	headers := fmt.Sprintf(`{"pawl-inbox-source": %q, "pawl-inbox-message-id": %q, "pawl-inbox-hash": %q, "more": "x"}`, source, message, hash)
	return f.position(f.value(`pawl.outbox_enqueue('paid', 'body', headers => $1::jsonb, queue => 'inbox')`, headers))
}

// position returns the position of a message.
func (f *doorFixture) position(message string) string {
	f.t.Helper()
	return f.value(`pawl.outbox_position($1::uuid)`, message)
}

// D-73, OBX-112: the calls of a worker on timers.
func TestDoorTimers(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	const foreign = "'22222222-2222-4222-8222-222222222222'"
	var ids []string
	for n := range 4 {
		ids = append(ids, f.value(`pawl.timer_schedule('t', 'body', now() - interval '1 minute' * (10 - $1), key => 'k' || $1)`, n))
	}
	f.is(ids[0]+"/t/body/k0/0", `SELECT concat_ws('/', c.id, c.topic, c.payload, c.key, c.retry_count) FROM pawl.timer_claim(`+ownID+`, 60, 1) c`)
	f.is("3", `SELECT count(*) FROM pawl.timer_claim(`+ownID+`, 60)`)
	for _, call := range []string{"timer_ack", "timer_abandon", "timer_fail"} {
		f.is("0", `pawl.`+call+`(`+foreign+`, $1)`, ids)
	}
	f.is("1", `pawl.timer_ack(`+ownID+`, ARRAY[$1, $1]::uuid[])`, ids[0])
	f.is("1", `pawl.timer_abandon(`+ownID+`, ARRAY[$1]::uuid[], 'busy', interval '1 hour')`, ids[1])
	f.is("1", `pawl.timer_fail(`+ownID+`, ARRAY[$1]::uuid[], repeat('ü', 2000))`, ids[2])
	f.is("0", `pawl.timer_ack(`+ownID+`, $1)`, ids[:3])
	f.is("Done,Pending,Failed,InProgress", `SELECT string_agg(status, ',' ORDER BY key) FROM pawl.timers WHERE key IS NOT NULL`)
	f.is("busy/1/2048", `SELECT concat_ws('/', (SELECT last_error FROM pawl.timers WHERE key = 'k1'), (SELECT retry_count FROM pawl.timers WHERE key = 'k1'), (SELECT octet_length(last_error) FROM pawl.timers WHERE key = 'k2'))`)
	f.is("0", `pawl.timer_reap_expired()`)
	enginetest.Exec(t, p, `UPDATE pawl.timer SET locked_until = now() - interval '1 second' WHERE status = 1`)
	f.is("1", `pawl.timer_reap_expired()`)
	f.is(ids[3]+"/0", `SELECT concat_ws('/', c.id, c.retry_count) FROM pawl.timer_claim(`+foreign+`, 60) c`)
}

// D-82, D-85, OBX-112: the calls of a worker on runs of jobs.
func TestDoorJobRuns(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	var runs []string
	for range 4 {
		runs = append(runs, f.value(`pawl.job_trigger('report')`))
	}
	f.is(strings.Join(runs, ","), `SELECT string_agg(c.run_id::text, ',' ORDER BY c.id) FROM pawl.job_run_claim(`+ownID+`, 60) c WHERE c.job_name = 'report' AND c.topic = 't' AND c.payload = 'x'`)
	ids := `(SELECT array_agg(id ORDER BY id) FROM pawl.job_run_item)`
	f.is("1", `pawl.job_run_ack(`+ownID+`, `+ids+`[1:1], 'python')`)
	f.is("1", `pawl.job_run_abandon(`+ownID+`, `+ids+`[2:2], 'busy', interval '1 hour')`)
	f.is("1", `pawl.job_run_fail(`+ownID+`, `+ids+`[3:3], 'never')`)
	f.is("Succeeded,Pending,Failed,Running", `SELECT string_agg(r.status, ',' ORDER BY i.id) FROM pawl.job_runs r JOIN pawl.job_run_item i ON i.run_id = r.id`)
	f.is("4", `SELECT count(start_time) FROM pawl.job_runs`)
	enginetest.Exec(t, p, `UPDATE pawl.outbox_claim SET locked_until = now() - interval '1 second'`)
	f.is("1", `pawl.job_run_reap_expired()`)
	f.is("1", `SELECT count(*) FROM pawl.job_run_claim(`+ownID+`, 60)`)
}

// D-50, D-52, D-53, D-54, OBX-112: the calls of a worker on the inbox's queue settle
// message and inbox together.
func TestDoorInbox(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	claim := `SELECT string_agg(concat_ws('/', c.source, c.message_id, c.topic, c.payload, c.attempts), ',' ORDER BY c.id) FROM pawl.inbox_claim(` + ownID + `, 60, max_attempts => 2) c`
	state := func(id, want string) {
		t.Helper()
		f.is(want, `SELECT concat_ws('/', o.status, i.status, i.attempts, i.last_error) FROM pawl.outbox o LEFT JOIN pawl.inbox i ON i.message_id = $2 WHERE o.id = $1::bigint`, id, "m"+id)
	}
	put := func(key, hash string) (id string) {
		t.Helper()
		id = f.value(`SELECT last_value + 1 FROM pawl.outbox_single`)
		return f.inboxMessage("bank", key+id, hash)
	}
	ack, again, failed := put("m", "00ff"), put("m", ""), put("m", "")
	f.is(fmt.Sprintf("bank/m%s/paid/body/1,bank/m%s/paid/body/1,bank/m%s/paid/body/1", ack, again, failed), claim)
	const foreign = "'22222222-2222-4222-8222-222222222222'"
	for _, call := range []string{"inbox_ack", "inbox_abandon", "inbox_fail"} {
		f.is("0", `pawl.`+call+`(`+foreign+`, ARRAY[$1,$2,$3]::bigint[])`, ack, again, failed)
	}
	f.is("1", `pawl.inbox_ack(`+ownID+`, ARRAY[$1,$1,-1,NULL]::bigint[], 'python')`, ack)
	f.is("1", `pawl.inbox_abandon(`+ownID+`, ARRAY[$1]::bigint[], 'busy', interval '0', 2)`, again)
	f.is("1", `pawl.inbox_fail(`+ownID+`, ARRAY[$1]::bigint[], 'never')`, failed)
	state(ack, "2/Done/1")
	state(again, "0/Seen/1/busy")
	state(failed, "3/Dead/1/never")
	f.is("bank/m"+again+"/paid/body/2", claim)
	f.is("1", `pawl.inbox_abandon(`+ownID+`, ARRAY[$1]::bigint[], 'busy', interval '0', 2)`, again)
	state(again, "3/Dead/2/busy") // its attempts are used up

	// What is not to be processed is settled by the claim itself.
	done, dead, mismatch, plain := f.inboxMessage("bank", "m"+ack, "00ff"), f.inboxMessage("bank", "m"+failed, ""), f.inboxMessage("bank", "m"+ack, "00fe"),
		f.position(f.value(`pawl.outbox_enqueue('t', 'x', queue => 'inbox')`))
	broken, torn := put("m", "0g"), put("m", "")
	enginetest.Exec(t, p, `UPDATE pawl.outbox_message SET headers = '{"a"' WHERE id = `+torn)
	busy := put("m", "")
	enginetest.Exec(t, p, `INSERT INTO pawl.inbox (source, message_id, status, token, locked_until_utc) VALUES ('bank', 'm`+busy+`', 'Processing', gen_random_uuid(), now() + interval '1 hour')`)
	f.is("0", `SELECT count(*) FROM pawl.inbox_claim(`+ownID+`, 60)`)
	for id, want := range map[string]string{
		done: "2", dead: "3/message is dead", mismatch: "3/message has another hash than at first", plain: "3/not a message of the inbox: invalid argument: source: null",
		broken: "3/not a message of the inbox: its hash is not hexadecimal", torn: "3/not a message of the inbox: its headers are not JSON", busy: "0",
	} {
		f.is(want, `SELECT concat_ws('/', status, last_error) FROM pawl.outbox WHERE id = $1::bigint`, id)
	}
	f.is("true", `SELECT next_attempt_at > now() AND retry_count = 0 FROM pawl.outbox WHERE id = $1::bigint`, busy)
	f.is("0", `pawl.inbox_reap_expired()`)
	enginetest.CheckPlaces(t, p)
}

// D-60, D-61, D-64: leases from another language.
func TestDoorLeases(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	const other = "'22222222-2222-4222-8222-222222222222'"
	var first int64 // the first token; they count on from it
	row := func(want, call string) {
		t.Helper()
		f.is(want, `SELECT concat_ws('/', l.acquired, l.holder_id, l.token - `+strconv.FormatInt(first, 10)+`, l.lease_until_utc > l.server_utc_now) FROM pawl.`+call+` l`)
	}
	f.is("true", `SELECT l.acquired FROM pawl.lease_acquire('l', 'me', 60, `+ownID+`) l`)
	first = enginetest.Number(t, p, `SELECT token FROM pawl.lease WHERE name = 'l'`) - 1
	token := func(n int64) string { return strconv.FormatInt(first+n, 10) }
	row("t/"+strings.Trim(ownID, "'")+"/1/t", `lease_acquire('l', 'me', 60, `+ownID+`)`)
	row("t/"+strings.Trim(ownID, "'")+"/1/t", `lease_acquire('l', 'me', 60, `+ownID+`)`)
	row("f", `lease_acquire('l', 'me', 60)`)
	f.is("true", `SELECT pawl.lease_renew('l', `+ownID+`, 60) > now() + interval '55 seconds'`)
	f.is("true", `SELECT pawl.lease_renew('l', `+other+`, 60) IS NULL`)
	guard := func(holder, token string) error {
		return f.try(`SELECT pawl.lease_guard('l', ` + holder + `, ` + token + `)`)
	}
	enginetest.Must(t, guard(ownID, token(1)))
	for _, err := range []error{guard(other, token(1)), guard(ownID, token(2))} {
		if err == nil || !strings.Contains(err.Error(), `lease lost: "l"`) {
			t.Errorf("guarded: %v", err)
		}
	}
	f.is("false", `pawl.lease_release('l', `+other+`)`)
	f.is("true", `pawl.lease_release('l', `+ownID+`)`)
	f.is("false", `pawl.lease_release('l', `+ownID+`)`)
	if err := guard(ownID, token(1)); err == nil {
		t.Error("guarded by a lease that was given back")
	}
	row("t/"+strings.Trim(other, "'")+"/2/t", `lease_acquire('l', 'you', 60, `+other+`)`)
	enginetest.Exec(t, p, `INSERT INTO pawl.lease_waiter (name, id, alive_until) VALUES ('l', `+ownID+`, now() + interval '1 hour')`)
	f.is("true", `pawl.lease_release('l', `+other+`)`)
	row("f", `lease_acquire('l', 'you', 60, `+other+`)`) // somebody waits
	row("t/"+strings.Trim(ownID, "'")+"/3/t", `lease_acquire('l', 'me', 60, `+ownID+`)`)
}

// D-212: the routine that stores messages with unique keys has rights that its callers lack, for
// their own messages only: nobody gets a key for a message of others, to replace it.
func TestUniqueKeysOfOthers(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	ids := enginetest.Put(t, db, 1)
	_, err := p.SQL.ExecContext(t.Context(), p.Names.Render(fmt.Sprintf(`SELECT pawl.outbox_enqueue_keyed(ARRAY[%d]::bigint[], ARRAY(SELECT message_id FROM pawl.outbox_message),
		'{t}', NULL, NULL, '{x}', ARRAY[1]::bigint[], NULL, '{}', '{f}', '{0}', '{k}', '{f}', '{0}', '{f}', '{f}')`, ids[0])))
	if err == nil || !strings.Contains(err.Error(), "stored without its unique key") {
		t.Error(err)
	}
}
