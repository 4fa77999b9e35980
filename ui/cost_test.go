package ui_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/ui"
)

// asked collects what is read of a database.
type asked struct {
	engine.DB
	all []engine.Operation
}

func (a *asked) Unwrap() engine.DB { return a.DB }

func (a *asked) Read(ctx context.Context, call *engine.Call) error {
	return a.ReadAll(ctx, call)
}

func (a *asked) ReadAll(ctx context.Context, calls ...*engine.Call) error {
	for _, c := range calls {
		a.all = append(a.all, c.Operation)
	}
	return engine.ReadAll(ctx, a.DB, calls...)
}

// buffers is how many of PostgreSQL's buffers an operation reads, with its plans pinned as the engine does.
func buffers(t *testing.T, db dbtest.Database, o engine.Operation) int {
	t.Helper()
	if b, ok := o.(op.BacklogMessages); ok {
		b.Queues = nil // which is more
		o = b
	}
	query, args := db.Statement(t, o)
	tx := db.Begin(t)
	defer tx.Rollback()
	for _, setting := range []string{"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "jit"} {
		if _, err := tx.ExecContext(t.Context(), "SET LOCAL "+setting+" = off"); err != nil {
			t.Fatal(err)
		}
	}
	var text string
	if err := tx.QueryRowContext(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+query, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", engine.NameOf(o), err)
	}
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read
}

// D-645: no statement of an overview reads more than 2 000 buffers of PostgreSQL's with 250 000 messages that were
// written one by one, half of them done and 7 000 failed.
func TestOverviewReadsFewBuffers(t *testing.T) {
	db := dbtest.OpenPostgres(t)
	a := &asked{DB: db.DB}
	p, err := pawl.New(a, pawl.Options{Logger: quiet()})
	f := &fixture{Pawl: p, t: t, db: db}
	f.check(err)
	const lane = "4828129222919567135, " // that of the queue "default"
	for _, text := range []string{
		"outbox_message (id, message_id, lane, created_at, topic, payload) SELECT i, gen_random_uuid(), " + lane + "now() - (250000 - i) * interval '10 milliseconds', 'topic-' || i % 25, convert_to(repeat('x', 300), 'UTF8') FROM generate_series(1, 250000) i",
		"outbox_done (lo, n, processed_at, owner) SELECT i, 1, now(), gen_random_uuid() FROM generate_series(1, 120000) i WHERE i % 35 > 0",
		"outbox_exception (id, status, last_error, updated_at) SELECT i, 3, 'refused', now() FROM generate_series(1, 250000) i WHERE i % 35 = 0",
		"outbox_ready (lane, at, lo, n) SELECT " + lane + "now() - (250000 - i) * interval '10 milliseconds', i, 1 FROM generate_series(120001, 249000) i WHERE i % 35 > 0",
		"outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT i, 1, " + lane + "now(), 0, gen_random_uuid(), now() + interval '1 hour' FROM generate_series(249001, 250000) i WHERE i % 35 > 0",
	} {
		f.check2(db.SQL.ExecContext(f.ctx(), "INSERT INTO "+db.Table("")+text))
	}
	var filled []string // the others of the server are those of other tests, and a catalog's locks are everybody's
	for _, name := range []string{"message", "done", "exception", "ready", "claim"} {
		filled = append(filled, db.Table("outbox_"+name))
	}
	f.check2(db.SQL.ExecContext(f.ctx(), "VACUUM ANALYZE "+strings.Join(filled, ", ")))
	_, body, _ := get(t, serve(t, ui.Of(p), ui.Options{}), "")
	if !strings.Contains(body, ">topic-24</a>") || len(a.all) < 20 {
		t.Fatalf("after %d statements: %s", len(a.all), text(body))
	}
	for _, o := range a.all {
		if n := buffers(t, db, o); n > 2000 {
			t.Errorf("%s reads %d buffers", engine.NameOf(o), n)
		} else {
			t.Logf("%s reads %d buffers", engine.NameOf(o), n)
		}
	}
}
