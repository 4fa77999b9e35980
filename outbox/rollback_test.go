package outbox_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-4, D-10: a message whose transaction was rolled back can be enqueued again
// under the id it was given, whatever this or another process enqueued in
// between or enqueues later, and no message takes another's place or id.
func TestIDOfARolledBackMessageCanBeUsedAgain(t *testing.T) {
	for name, open := range map[string]func(testing.TB) dbtest.Database{"sqlite": dbtest.OpenSQLite, "postgres": dbtest.OpenPostgres} {
		for variant := range 16 {
			c := rolledBack{againInTx: variant&1 > 0, againFirst: variant&2 > 0, othersInTx: variant&4 > 0, othersElsewhere: variant&8 > 0}
			t.Run(fmt.Sprintf("%s %+v", name, c), func(t *testing.T) { c.run(t, open(t)) })
		}
	}
}

// rolledBack says how the message is enqueued again and what else is.
type rolledBack struct{ againInTx, againFirst, othersInTx, othersElsewhere bool }

func (c rolledBack) run(t *testing.T, d dbtest.Database) {
	o := parts.NewOutbox(d.DB, worker.Options{})
	other := o
	if c.othersElsewhere {
		other = parts.NewOutbox(d.Another(t), worker.Options{})
	}
	lost := enqueueTx(t, d, o, outbox.Message{Topic: "first try"}, false)
	ids := []outbox.MessageID{lost}
	steps := []func(){
		func() {
			for range 2 { // the second adds nothing
				if id := enqueueSomehow(t, d, o, outbox.Message{Topic: "again", ID: lost}, c.againInTx); id != lost {
					t.Errorf("%v was enqueued as %v", lost, id)
				}
			}
		},
		func() {
			for range 3 {
				ids = append(ids, enqueueSomehow(t, d, other, outbox.Message{Topic: "other"}, c.othersInTx))
			}
		},
	}
	if !c.againFirst {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		step()
	}
	for i, id := range ids {
		if slices.Index(ids, id) != i {
			t.Errorf("%v is the id of two messages", id)
		}
		if info, err := o.Get(t.Context(), id); err != nil || (id == lost) != (info.Topic == "again") {
			t.Errorf("message %v: %+v, %v", id, info, err)
		}
	}
	if n, err := o.Count(t.Context()); err != nil || n.Ready != 4 {
		t.Errorf("%+v, %v, want 4 ready", n, err)
	}
}

func enqueueSomehow(t *testing.T, d dbtest.Database, o *parts.Outbox, m outbox.Message, inTx bool) outbox.MessageID {
	t.Helper()
	if inTx {
		return enqueueTx(t, d, o, m, true)
	}
	id, err := o.Enqueue(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func enqueueTx(t *testing.T, d dbtest.Database, o *parts.Outbox, m outbox.Message, commit bool) outbox.MessageID {
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
	d := dbtest.OpenPostgres(t)
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
