package join_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// JOIN-005, JOIN-008, JOIN-010, JOIN-012, D-36: programs in other languages take
// part with plain SQL, in a transaction of their own.
func TestRoutinesForOtherLanguages(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	o := parts.NewOutbox(db, worker.Options{StopWhenEmpty: true})
	j := parts.NewJoins(db, o, join.Options{}, nil)
	call := func(query string, args ...any) (answer string) {
		t.Helper()
		query = strings.ReplaceAll(query, "pawl.", db.Table(""))
		if err := db.SQL.QueryRowContext(t.Context(), query, args...).Scan(&answer); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return answer
	}
	late := call(`SELECT pawl.outbox_join_start(1, deadline_utc => '0001-01-01 UTC')`)
	if at := call(`SELECT extract(epoch FROM deadline_utc)::bigint::text FROM pawl.outbox_join WHERE join_id = $1`, late); at != "0" { // D-8: it has passed
		t.Errorf("a deadline in the year 1 is second %s", at)
	}
	if err := o.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := call(`SELECT pawl.outbox_enqueue('step', '{}')`)
	b := call(`SELECT pawl.outbox_enqueue('step', '{}', message_id => gen_random_uuid())`)
	c := call(`SELECT pawl.outbox_enqueue('step', '{}')`)
	id := call(`SELECT pawl.outbox_join_start(3, grouping_key => 'g', metadata => '{"a":1}', deadline_utc => now() + interval '1 hour')`)
	for _, m := range []string{a, b, c, a} {
		call(`SELECT pawl.outbox_join_attach($1, $2)::text`, id, m)
	}
	if got := call(`SELECT pawl.outbox_join_report($1, $2)`, id, a) + call(`SELECT pawl.outbox_join_report($1, $2, failed => true)`, id, a) +
		call(`SELECT pawl.outbox_join_report($1, $2, failed => true)`, id, b); got != "truefalsetrue" {
		t.Fatalf("the reports counted: %s", got)
	}
	call(`SELECT pawl.outbox_join_wait($1, on_complete_topic => 'done', on_complete_payload => '{"n": 1}', fail_if_any_step_failed => false)`, id)
	call(`SELECT pawl.outbox_join_wait($1, on_fail_topic => 'failed', on_fail_payload => 'x')`, id)
	call(`SELECT pawl.outbox_join_wait($1, on_complete_topic => 'large', on_complete_payload => repeat('"', 1048576)) || current_setting('pawl_sql.max_payload')`, id)
	owner := outbox.NewOwnerToken().String()
	call(`SELECT count(*)::text FROM pawl.outbox_claim($1, 60) c WHERE c.topic = 'step'`, owner)
	call(`SELECT pawl.outbox_ack($1, ARRAY(SELECT id FROM pawl.outbox WHERE message_id = $2))`, owner, c)
	call(`SELECT pawl.outbox_release($1, ARRAY(SELECT id FROM pawl.outbox))`, owner)

	parsed, err := uuid.Parse(id)
	if err != nil {
		t.Fatal(err)
	}
	got, err := j.Get(t.Context(), parsed)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != join.Failed || got.CompletedSteps != 2 || got.FailedSteps != 1 || got.GroupingKey != "g" || got.Metadata != `{"a":1}` ||
		time.Until(got.Deadline) < 50*time.Minute {
		t.Fatalf("the join is %+v", got)
	}
	if err := o.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for topic, payload := range map[string]string{"done": `{"n": 1}`, "failed": "x"} {
		sent, err := engine.Collect(o.List(t.Context(), outbox.ListOptions{Topic: topic}), 100)
		if err != nil || len(sent) != 1 || string(sent[0].Payload) != payload {
			t.Fatalf("%s: %v, %v", topic, sent, err)
		}
	}
	if got, err := j.Get(t.Context(), parsed); err != nil || got.Status != join.Completed {
		t.Fatalf("%+v, %v", got, err)
	}
	other := call(`SELECT pawl.outbox_join_start(1, join_id => gen_random_uuid())`)
	if got := call(`SELECT pawl.outbox_join_cancel($1)`, other) + call(`SELECT pawl.outbox_join_cancel($1)`, other); got != "truefalse" {
		t.Fatalf("cancelled: %s", got)
	}
}

// D-31, D-32: mistakes are errors that say what is wrong.
func TestRoutinesRefuse(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenPostgres(t)
	j := parts.NewJoins(db, parts.NewOutbox(db, worker.Options{}), join.Options{}, nil)
	id, err := j.Start(t.Context(), join.Spec{ExpectedSteps: 1})
	if err != nil {
		t.Fatal(err)
	}
	unknown := uuid.New().String()
	for query, want := range map[string]string{
		`SELECT pawl.outbox_join_start(0)`:                                         "expected steps",
		`SELECT pawl.outbox_join_start(NULL)`:                                      "expected steps",
		`SELECT pawl.outbox_join_start(1, grouping_key => repeat('x', 256))`:       "grouping key",
		`SELECT pawl.outbox_join_attach('` + unknown + `', '` + unknown + `')`:     "message " + unknown,
		`SELECT pawl.outbox_join_report('` + unknown + `', '` + unknown + `')`:     "join " + unknown,
		`SELECT pawl.outbox_join_report('` + id.String() + `', '` + unknown + `')`: "not a member",
		`SELECT pawl.outbox_join_cancel('` + unknown + `')`:                        "join " + unknown,
		`SELECT pawl.outbox_join_wait('` + unknown + `', 'done')`:                  "join " + unknown,
	} {
		_, err := db.SQL.ExecContext(t.Context(), strings.ReplaceAll(query, "pawl.", db.Table("")))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to name %q", query, err, want)
		}
	}
}
