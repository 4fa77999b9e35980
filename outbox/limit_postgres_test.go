package outbox_test

import (
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-214: a claim in SQL obeys limits, also before it has committed, and one that would wait for it
// gets what has no limit.
func TestLimitsInSQL(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
	f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 2})
	f.mix("a1", "a2", "a3", "b1", "b2")
	f.next("a1", "a2", "b1", "b2")
	f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 4})
	f.mix("a4", "b3")
	tx := f.begin()
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM "+d.Table("outbox_claim")+"(gen_random_uuid(), 60, 1)").Scan(&n); err != nil || n != 1 {
		t.Fatalf("claimed %d, %v", n, err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT "+d.Table("outbox_limit_room")+"('topic', ARRAY['a'], ARRAY[1], true)"); err != nil {
		t.Fatal(err)
	}
	if _, msgs := f.claim(10); len(msgs) > 1 || len(msgs) == 1 && msgs[0].Topic != "b" {
		t.Errorf("claimed %q beside another claim of the limit", names(msgs))
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.claim(10)
	f.counts(outbox.Counts{InProgress: 7})
}

// D-214: claims under one limit in transactions at the same time do not exceed it together.
func TestLimitsAmongClaims(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
	f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 3})
	f.mix("a", "a", "a")
	f.next("a", "a", "a")
	for range 3 { // each has a row of its own: a claim skips those that another one has locked
		f.mix("a")
		f.next()
	}
	f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 4})
	tx := f.begin()
	claimed := func() (n int) {
		t.Helper()
		if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM "+d.Table("outbox_claim")+"(gen_random_uuid(), 60, 10)").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := claimed(); n != 1 {
		t.Fatalf("claimed %d, want 1", n)
	}
	f.next()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	f.next()
}

// D-214, D-113: a claim that does not see what others have claimed meanwhile is refused, with limits and without.
func TestClaimsNeedReadCommitted(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
	for _, limited := range []bool{false, true} {
		if limited {
			f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
		}
		tx, err := d.SQL.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if err != nil {
			t.Fatal(err)
		}
		_, err = tx.ExecContext(t.Context(), "SELECT * FROM "+d.Table("outbox_claim")+"(gen_random_uuid(), 60)")
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "25000" {
			t.Errorf("with a limit %v: %v", limited, err)
		}
		_ = tx.Rollback()
	}
}

// D-629: a claim that holds a limit waits for no other, and puts the messages of one that another claim
// holds just now back to where they were: they are moved nowhere, and come with the next claim.
func TestClaimsPutBackWhatAnotherHolds(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
	f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
	f.limit(throttle.Topic, "b", throttle.Bounds{Concurrency: 10})
	f.mix("a1", "a2", "a3")
	end := f.from("default", 10, "a1") // the others wait in the lane of the limit
	f.mix("b1", "b2", "c1")
	end()
	other := f.begin()
	if _, err := other.ExecContext(t.Context(), "SELECT 1 FROM "+d.Table("outbox_limit")+" WHERE name = 'b' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	before := f.moved()
	_, msgs := f.claim(10) // it takes a2 first, and holds the limit of a
	if got := names(msgs); !slices.Contains(got, "c1") && !slices.Contains(got, "a2") || slices.Contains(got, "b1") {
		t.Errorf("claimed %q beside a claim that holds the limit of b", got)
	}
	if after := f.moved(); after >= before {
		t.Errorf("%d messages are in lanes of limits, %d before: those of b were moved", after, before)
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	_, msgs = f.claim(10)
	if got := names(msgs); !slices.Contains(got, "b1") || !slices.Contains(got, "b2") {
		t.Errorf("claimed %q after it, want b1 and b2", got)
	}
	d.CheckPlaces(t)
}
