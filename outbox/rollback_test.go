package outbox_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/outboxtest"
	"github.com/bravellian/pawl/outbox"
)

// D-4, D-10: a message whose transaction was rolled back can be enqueued again
// under the id it was given, whatever was enqueued in between, and neither
// takes the other's place.
func TestIDOfARolledBackMessageCanBeUsedAgain(t *testing.T) {
	for name, open := range map[string]func(testing.TB) outboxtest.Database{"sqlite": openSQLite, "postgres": openPostgres} {
		for when, inTx := range map[string]bool{"in a transaction": true, "standalone": false} {
			for order, first := range map[string]bool{"before others": true, "after others": false} {
				t.Run(name+" "+when+" "+order, func(t *testing.T) {
					d := open(t)
					o := outbox.New(d.DB, outbox.Options{})
					lost := enqueueTx(t, d, o, outbox.Message{Topic: "first try"}, false)
					again := func() {
						m := outbox.Message{Topic: "again", ID: lost}
						if inTx {
							enqueueTx(t, d, o, m, true)
							enqueueTx(t, d, o, m, true) // no second time
							return
						}
						for range 2 {
							if _, err := o.Enqueue(t.Context(), m); err != nil {
								t.Fatal(err)
							}
						}
					}
					others := func() (ids []outbox.MessageID) {
						ids = append(ids, enqueueTx(t, d, o, outbox.Message{Topic: "other"}, true))
						id, err := o.Enqueue(t.Context(), outbox.Message{Topic: "other"})
						if err != nil {
							t.Fatal(err)
						}
						return append(ids, id)
					}
					var ids []outbox.MessageID
					if first {
						again()
						ids = others()
					} else {
						ids = others()
						again()
					}
					if slices.Contains(ids, lost) {
						t.Error("one id for two messages")
					}
					for _, id := range append(ids, lost) {
						if i, err := o.Find(t.Context(), id); err != nil || (id == lost) != (i.Topic == "again") {
							t.Errorf("message %v: %+v, %v", id, i, err)
						}
					}
					if c, err := o.Count(t.Context()); err != nil || c.Ready != 3 {
						t.Errorf("%+v, %v, want 3 ready", c, err)
					}
				})
			}
		}
	}
}

func enqueueTx(t *testing.T, d outboxtest.Database, o *outbox.Outbox, m outbox.Message, commit bool) outbox.MessageID {
	t.Helper()
	tx, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := o.EnqueueTx(t.Context(), tx, m)
	if err != nil {
		t.Fatal(err)
	}
	end := tx.Rollback
	if commit {
		end = tx.Commit
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	return id
}

// OBX-118, OBX-120: routines that settle never compile their plans: on
// PostgreSQL that takes a hundred times as long as the work.
func TestRoutinesAreNotCompiledJustInTime(t *testing.T) {
	d := openPostgres(t)
	schema := d.Table("")
	rows, err := d.SQL.QueryContext(context.Background(), `SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = $1 AND p.proname LIKE '%\_runs' AND p.proname <> 'outbox_runs' AND NOT coalesce('jit=off' = ANY (p.proconfig), false)`, schema[:len(schema)-1])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s may be compiled", name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
