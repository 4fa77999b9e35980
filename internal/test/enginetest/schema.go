package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// OBX-110, D-100: migrating again changes nothing and loses nothing.
func migrateAgain(t *testing.T, p *Place) {
	db := Migrated(t, p)
	Put(t, db, 3)
	before := Number(t, p, "SELECT count(*) FROM pawl.pawl_schema")
	for range 3 {
		Must(t, db.Migrate(t.Context()))
	}
	Must(t, p.Open(t, Options{}).Migrate(t.Context()))
	if after := Number(t, p, "SELECT count(*) FROM pawl.pawl_schema"); after != before {
		t.Errorf("%d migrations in the history, then %d", before, after)
	}
	if c := Count(t, db); c.Ready != 3 {
		t.Errorf("messages after migrating again: %+v", c)
	}
}

// turns is how long migrations may wait for each other on a busy machine.
const turns = 5 * time.Minute

// D-100: of eight handles that migrate at once none fails, and one applies.
func migrateTogether(t *testing.T, p *Place) {
	dbs := make([]engine.DB, 8)
	for i := range dbs {
		dbs[i] = p.Open(t, Options{StatementTimeout: turns})
	}
	all(t, len(dbs), func(i int) error { return dbs[i].Migrate(context.Background()) })
	for _, db := range dbs {
		Must(t, db.CheckSchema(t.Context()))
	}
	Put(t, dbs[7], 1)
}

// D-100, D-101: two programs with prefixes of their own start on a new database.
func migratePrefixesTogether(t *testing.T, p *Place) {
	prefixes := []string{"a_", "b_", "c_", "d_", "e_", "f_"}
	dbs := make([]engine.DB, len(prefixes))
	for i, prefix := range prefixes {
		dbs[i] = p.Open(t, Options{Prefix: prefix, StatementTimeout: turns})
	}
	all(t, len(dbs), func(i int) error { return dbs[i].Migrate(context.Background()) })
	for _, db := range dbs {
		Put(t, db, 1)
	}
}

// all runs n functions at once and reports their errors.
func all(t testing.TB, n int, do func(i int) error) {
	t.Helper()
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			if err := do(i); err != nil {
				t.Errorf("%d of %d: %v", i, n, err)
			}
		})
	}
	close(start)
	wg.Wait()
}

// OBX-109, D-100: no operation, no check and no waiter creates anything.
func nothingCreated(t *testing.T, p *Place) {
	db := p.Open(t, Options{})
	ctx := t.Context()
	var got []Message
	for what, err := range map[string]error{
		"enqueue": db.Do(ctx, Enqueue([]int64{1}, nil)),
		"claim":   db.Do(ctx, Claim(Token(), Lease, 1, &got)),
		"read":    db.Read(ctx, Lanes()),
		"reserve": func() error { _, err := db.ReserveIDs(ctx, nil, 1); return err }(),
		"check":   db.CheckSchema(ctx),
	} {
		if !errors.Is(err, engine.ErrSchemaMissing) {
			t.Errorf("%s without a schema: %v", what, err)
		}
	}
	if err := db.CheckSchema(ctx); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Errorf("afterwards: %v", err)
	}
}

// OBX-108, D-100: a schema that this build cannot use is named for what it is.
func schemaErrors(t *testing.T, p *Place) {
	ctx := t.Context()
	db := p.Open(t, Options{})
	want := func(what string, err, class error, text string) {
		t.Helper()
		if !errors.Is(err, class) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: want %q with %q, got: %v", what, class, text, err)
		}
	}
	want("empty", db.CheckSchema(ctx), engine.ErrSchemaMissing, "pawl migrate")
	Must(t, db.Migrate(ctx))
	Must(t, db.CheckSchema(ctx))

	newer := p.Open(t, Options{})
	p.AddMigration(newer, fmt.Sprintf("-- lowest: %d\nCREATE TABLE pawl.outbox_extra (id bigint)", status(t, newer).Program+1))
	want("old", newer.CheckSchema(ctx), engine.ErrSchemaOld, "pawl migrate")
	Must(t, newer.Migrate(ctx))
	Must(t, newer.CheckSchema(ctx))
	Exec(t, p, "INSERT INTO pawl.outbox_extra (id) VALUES (1)")

	want("new", db.CheckSchema(ctx), engine.ErrSchemaNew, "update this program")
	want("migrate backwards", db.Migrate(ctx), engine.ErrSchemaNew, "update this program")

	Exec(t, p, "UPDATE pawl.pawl_schema SET checksum = 'other' WHERE version = 1")
	want("changed", newer.CheckSchema(ctx), engine.ErrSchemaChanged, "version 1 (baseline)")
	want("migrate changed", newer.Migrate(ctx), engine.ErrSchemaChanged, "version 1 (baseline)")

	Exec(t, p, "DELETE FROM pawl.pawl_schema WHERE version = 1")
	want("a gap", newer.CheckSchema(ctx), engine.ErrSchemaChanged, "version 1")
	want("migrate a gap", newer.Migrate(ctx), engine.ErrSchemaChanged, "version 1")

	Exec(t, p, "DELETE FROM pawl.pawl_schema")
	want("forgotten", db.CheckSchema(ctx), engine.ErrSchemaMissing, "pawl migrate")
}

// D-3, D-100: a migration that fails half-way leaves nothing of itself.
func failedMigration(t *testing.T, p *Place) {
	db := Migrated(t, p)
	newer := p.Open(t, Options{})
	p.AddMigration(newer, "CREATE TABLE pawl.outbox_half (id bigint); INSERT INTO pawl.outbox_nowhere VALUES (1)")
	if err := newer.Migrate(t.Context()); err == nil {
		t.Fatal("a broken migration succeeded")
	}
	Must(t, db.CheckSchema(t.Context()))
	Exec(t, p, "CREATE TABLE pawl.outbox_half (id bigint)")
	Put(t, db, 1)
}

// D-100: a view is made again where its text differs from the one the database was
// given, with other columns too, and dropped where a build no longer has it.
func changedView(t *testing.T, p *Place) {
	Migrated(t, p)
	other := p.Open(t, Options{})
	for _, text := range []string{"CREATE VIEW pawl.more AS SELECT 1 AS a", "CREATE VIEW pawl.more AS SELECT 'x' AS b, 2 AS c"} {
		p.SetObject(other, engine.Views, "more", text)
		if err := other.CheckSchema(t.Context()); !errors.Is(err, engine.ErrSchemaOld) || !strings.Contains(err.Error(), "more") {
			t.Errorf("before: %v", err)
		}
		Must(t, other.Migrate(t.Context()))
		Must(t, other.CheckSchema(t.Context()))
	}
	if n := Number(t, p, "SELECT c FROM pawl.more WHERE b = 'x'"); n != 2 {
		t.Errorf("the view shows %d", n)
	}
	p.SetObject(other, engine.Views, "more", "")
	if err := other.CheckSchema(t.Context()); !errors.Is(err, engine.ErrSchemaOld) {
		t.Errorf("with one too many: %v", err)
	}
	Must(t, other.Migrate(t.Context()))
	Must(t, other.CheckSchema(t.Context()))
	Exec(t, p, "CREATE VIEW pawl.more AS SELECT 1 AS a") // nothing of that name is left
	Put(t, other, 1)
}

// D-101: whatever is a valid prefix works, up to the longest.
func oddNames(t *testing.T, p *Place) {
	for _, prefix := range []string{"select", "Table", "ORDER_", "_", "a1", "user", "pawl_", "x" + strings.Repeat("y", 31), "Z" + strings.Repeat("9", 31)} {
		t.Run(prefix, func(t *testing.T) {
			db := p.Open(t, Options{Prefix: prefix})
			Must(t, db.Migrate(t.Context()))
			Must(t, db.CheckSchema(t.Context()))
			LiveOnce(t, db)
		})
	}
}

// LiveOnce takes messages through every operation.
func LiveOnce(t testing.TB, db engine.DB) {
	t.Helper()
	owner, zero := Token(), shortDelay
	ids := Put(t, db, 6)
	if err := same(Take(t, db, owner, 6), ids); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]*engine.Call{
		"extend":  Extend(owner, Lease, Span{ids[0], 6}),
		"ack":     Ack(owner, Span{ids[0], 2}),
		"abandon": Abandon(owner, &zero, "why", Span{ids[2], 1}),
		"fail":    Fail(owner, "why", Span{ids[3], 2}),
		"release": Release(owner, 0, Span{ids[5], 1}),
	} {
		Do(t, db, c)
		want := map[string]int64{"extend": 6, "ack": 2, "abandon": 1, "fail": 2, "release": 1}[what]
		if c.N != want && what != "extend" {
			t.Errorf("%s touched %d messages, want %d", what, c.N, want)
		}
	}
	for what, c := range map[string]*engine.Call{"redrive": Redrive([]int64{ids[3]}), "discard": Discard([]int64{ids[4]}, nil)} {
		Do(t, db, c)
		if c.N != 1 {
			t.Errorf("%s touched %d messages, want 1", what, c.N)
		}
	}
	Do(t, db, Reap())
	mid := Token()
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	Must(t, err)
	again := EnqueueOnce(Once{ID: lo, MessageID: mid, Supplied: true})
	Do(t, db, again)
	if again.N != 1 {
		t.Errorf("enqueue with an id added %d", again.N)
	}
	if got := len(Take(t, db, Token(), 10)); got != 4 {
		t.Errorf("%d messages came back, want 4", got)
	}
	if c := Count(t, db); c != (Counts{Claimed: 4, Done: 2, Discarded: 1}) {
		t.Errorf("at the end: %+v", c)
	}
}

// D-101: two prefixes in one schema know nothing of each other.
func twoPrefixes(t *testing.T, p *Place) {
	a, b := p.Open(t, Options{Prefix: "one_"}), p.Open(t, Options{Prefix: "two_"})
	Must(t, a.Migrate(t.Context()))
	if err := b.CheckSchema(t.Context()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Errorf("the other prefix: %v", err)
	}
	Must(t, b.Migrate(t.Context()))
	ids := Put(t, a, 5)
	if got := Take(t, b, Token(), 10); len(got) != 0 {
		t.Errorf("claimed %d messages of the other prefix", len(got))
	}
	owner := Token()
	if err := same(Take(t, a, owner, 10), ids); err != nil {
		t.Error(err)
	}
	ack := Ack(owner, Span{ids[0], 5})
	Do(t, b, ack)
	if ack.N != 0 {
		t.Errorf("acked %d messages of the other prefix", ack.N)
	}
	Do(t, a, ack)
	if ack.N != 5 {
		t.Errorf("acked %d of 5", ack.N)
	}
	LiveOnce(t, b)
}
