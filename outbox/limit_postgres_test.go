package outbox_test

import (
	"database/sql"
	"errors"
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
	if _, err := tx.ExecContext(t.Context(), "SELECT "+d.Table("outbox_limit_room")+"('topic', 'a', 1)"); err != nil {
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

// D-214, D-113: a claim that does not see what others have claimed meanwhile is refused while there
// are limits.
func TestLimitsNeedReadCommitted(t *testing.T) {
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
		if errors.As(err, &refused) != limited || limited && refused.Code != "25000" {
			t.Errorf("with a limit %v: %v", limited, err)
		}
		_ = tx.Rollback()
	}
}
