package outbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func pool(db dbtest.Database) *postgres.DB { return db.DB.(*postgres.DB) }

// OBX-003, D-3
func TestEnqueueInPgxTransaction(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	o := parts.NewOutbox(db, worker.Options{})
	for _, commit := range []bool{true, false} {
		tx, err := pool(db).Pool().Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
		if commit {
			err = tx.Commit(t.Context())
		} else {
			err = tx.Rollback(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if c, err := o.Count(t.Context()); err != nil || c.Ready != 1 {
		t.Fatal(c, err)
	}
}

// A pool whose only connection is inside the caller's transaction is enough.
func TestEnqueueOnTheOnlyConnection(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	config := pool(db).Pool().Config()
	config.MaxConns = 1
	narrow, err := postgres.Open(strings.Replace(config.ConnString(), "pool_max_conns=8", "pool_max_conns=1", 1),
		postgres.Options{Schema: strings.TrimSuffix(db.Table(""), "."), StatementTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = narrow.Close() })
	o := parts.NewOutbox(narrow, worker.Options{})
	tx, err := narrow.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	msgs := []outbox.Message{{Topic: "t"}, {Topic: "t", Queue: "never seen"}}
	if _, err := o.EnqueueBatchTx(t.Context(), tx, msgs); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c, err := o.Count(t.Context()); err != nil || c.Ready != 2 {
		t.Fatal(c, err)
	}
}

// routines runs SQL as a program in another language would.
type routines struct {
	t  *testing.T
	tx pgx.Tx
	in func(string) string
}

func (r routines) row(query string, args []any, dest ...any) {
	r.t.Helper()
	if err := r.tx.QueryRow(r.t.Context(), r.in(query), args...).Scan(dest...); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
}

func (r routines) count(want int64, query string, args ...any) {
	r.t.Helper()
	var got int64
	if r.row(query, args, &got); got != want {
		r.t.Fatalf("%s: %d, want %d", query, got, want)
	}
}

func begin(t *testing.T, db dbtest.Database) routines {
	t.Helper()
	tx, err := pool(db).Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return routines{t, tx, func(q string) string { return strings.ReplaceAll(q, "pawl.", db.Table("")) }}
}

// OBX-112, OBX-120, D-27: a message written in SQL is delivered like any other.
func TestSQLRoutineEnqueues(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	o := parts.NewOutbox(db, worker.Options{})
	r := begin(t, db)
	var plain, object, again, full string
	r.row(`SELECT pawl.outbox_enqueue('order.created', '{"n": 1}')`, nil, &plain)
	r.row(`SELECT pawl.outbox_enqueue('order.created', jsonb_build_object('n', 2))`, nil, &object)
	r.row(`SELECT pawl.outbox_enqueue(topic => 'mail', payload => 'hé', correlation_id => 'c', due_time_utc => now() - interval '1 hour',
		message_id => '00000000-0000-4000-8000-000000000001', headers => '{"a":"b","n":1}', queue => 'q', priority => -3)`, nil, &full)
	r.row(`SELECT pawl.outbox_enqueue('mail', 'again', message_id => '00000000-0000-4000-8000-000000000001')`, nil, &again)
	if err := r.tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again != full {
		t.Fatalf("supplying an id again made %s", again)
	}
	for id, want := range map[string]string{plain: `{"n": 1}`, object: `{"n": 2}`, full: "hé"} {
		mid, err := outbox.ParseMessageID(id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.Get(t.Context(), mid)
		if err != nil || string(got.Payload) != want {
			t.Fatalf("%s: %v, %v", id, got, err)
		}
		if id == full && (got.CorrelationID != "c" || got.Queue != "q" || got.Priority != -3 || got.Headers["a"] != "b" || got.Headers["n"] != "1" || got.Due.IsZero()) {
			t.Fatalf("came back as %+v", got.Message)
		}
	}
	if c, err := o.Count(t.Context()); err != nil || c.Ready != 3 {
		t.Fatal(c, err)
	}
}

// D-8, OBX-013: a due time before 1970 is none in SQL as well.
func TestSQLRoutineDueBefore1970(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	o := parts.NewOutbox(db, worker.Options{})
	r := begin(t, db)
	want := make([]string, 1, 4)
	r.row(`SELECT pawl.outbox_enqueue('t', 'x')`, nil, &want[0])
	for _, due := range []string{"0001-01-01 UTC", "1969-12-31 23:59:59.999999 UTC", "4713-01-01 BC UTC"} {
		var id string
		r.row(`SELECT pawl.outbox_enqueue('t', 'x', due_time_utc => $1::timestamptz)`, []any{due}, &id)
		want = append(want, id)
	}
	if err := r.tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := o.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), time.Minute, 10)
	if err != nil || len(got) != len(want) {
		t.Fatalf("claimed %d of %d: %v", len(got), len(want), err)
	}
	for i, m := range got {
		if m.ID.String() != want[i] || !m.Due.IsZero() {
			t.Errorf("message %d is %v, due %v; want %v", i, m.ID, m.Due, want[i])
		}
	}
}

// OBX-004, OBX-005, OBX-007, D-2
func TestSQLRoutineRefusesBadInput(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	for _, call := range []string{
		`pawl.outbox_enqueue('', 'p')`, `pawl.outbox_enqueue(NULL, 'p')`, `pawl.outbox_enqueue('  ', 'p')`, `pawl.outbox_enqueue('t', NULL::text)`,
		`pawl.outbox_enqueue(repeat('x', 256), 'p')`, `pawl.outbox_enqueue('t', 'p', correlation_id => repeat('x', 256))`,
		`pawl.outbox_enqueue('t', 'p', priority => 101)`, `pawl.outbox_enqueue('t', 'p', queue => '')`,
	} {
		r := begin(t, db)
		if _, err := r.tx.Exec(t.Context(), r.in("SELECT "+call)); err == nil {
			t.Errorf("%s was accepted", call)
		}
		_ = r.tx.Rollback(t.Context())
	}
}

// OBX-112, OBX-120: a worker in another language.
func TestSQLRoutinesServeAWorker(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	o := parts.NewOutbox(db, worker.Options{})
	if _, err := o.EnqueueBatch(t.Context(), make6()); err != nil {
		t.Fatal(err)
	}
	r := begin(t, db)
	const owner = "11111111-1111-4111-8111-111111111111"
	rows, err := r.tx.Query(t.Context(), r.in(`SELECT id FROM pawl.outbox_claim($1, 30, 2000000000)`), owner)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) != 6 {
		t.Fatalf("claimed %v: %v", ids, err)
	}
	r.count(2, `SELECT pawl.outbox_ack($1, $2, 'python')`, owner, []int64{ids[0], ids[1], ids[0], 77})
	r.count(1, `SELECT pawl.outbox_abandon($1, $2, 'busy', interval '1 hour')`, owner, []int64{ids[2], ids[1]})
	r.count(1, `SELECT pawl.outbox_fail($1, $2, 'never')`, owner, []int64{ids[3]})
	r.count(1, `SELECT pawl.outbox_release($1, $2)`, owner, []int64{ids[4]})
	r.count(1, `SELECT pawl.outbox_extend($1, $2, 60)`, owner, ids)
	r.count(0, `SELECT pawl.outbox_ack($1, $2)`, "22222222-2222-4222-8222-222222222222", ids)
	r.count(0, `SELECT pawl.outbox_ack($1, $2)`, owner, []int64{})
	r.count(0, `SELECT pawl.outbox_reap_expired()`)
	if err := r.tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c, err := o.Count(t.Context()); err != nil || c != (outbox.Counts{Ready: 1, Retrying: 1, InProgress: 1, Done: 2, Failed: 1}) {
		t.Fatal(c, err)
	}
	if got, err := o.GetByPosition(t.Context(), outbox.Position(ids[0])); err != nil || got.ProcessedBy != "python" {
		t.Fatal(got, err)
	}
}

func make6() []outbox.Message {
	msgs := make([]outbox.Message, 6)
	for i := range msgs {
		msgs[i].Topic = "t"
	}
	return msgs
}

// Options.RelaxedAck changes how long a claim waits for the disk and nothing else.
func TestRelaxedAck(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	relaxed := dbtest.PostgresAt(t, postgres.Options{Schema: strings.TrimSuffix(db.Table(""), "."), RelaxedAck: true})
	o := parts.NewOutbox(relaxed, worker.Options{})
	if _, err := o.EnqueueBatch(t.Context(), make6()); err != nil {
		t.Fatal(err)
	}
	owner := outbox.NewOwnerToken()
	msgs, err := o.WorkQueue("").Claim(t.Context(), owner, time.Minute, 10)
	if err != nil || len(msgs) != 6 {
		t.Fatal(len(msgs), err)
	}
	for _, m := range msgs {
		if n, err := o.WorkQueue("").Ack(t.Context(), owner, m.Position); err != nil || n != 1 {
			t.Fatal(n, err)
		}
	}
}
