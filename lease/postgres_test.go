package lease_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
)

// locked takes the lock of a lease's row in a session of its own.
func locked(t *testing.T, d dbtest.Database, how string) *sql.Tx {
	t.Helper()
	tx := d.Begin(t)
	t.Cleanup(func() { _ = tx.Rollback() })
	var token int64
	if err := tx.QueryRowContext(t.Context(), "SELECT token FROM "+d.Table("lease")+" WHERE name = 'n' "+how).Scan(&token); err != nil {
		t.Fatal(err)
	}
	return tx
}

// blocked waits until a session of this database waits for a lock in a
// statement that names a routine of ours.
func blocked(t *testing.T, d dbtest.Database, routine string) {
	t.Helper()
	dbtest.Until(t, routine+" waits for a lock", func() bool {
		var n int
		d.Row(t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"+strings.TrimSuffix(d.Table(""), ".")+"%"+routine+"%'", &n)
		return n > 0
	})
}

// seconds is how long the lease lasts by the database's clock.
func seconds(t *testing.T, d dbtest.Database) (left float64) {
	t.Helper()
	d.Row(t, "SELECT coalesce(extract(epoch FROM lease_until_utc - clock_timestamp())::float8, 0) FROM "+d.Table("lease")+" WHERE name = 'n'", &left)
	return left
}

// awaitExpiry waits until the lease is over by the database's clock too: that is later than
// by the holder's, who counts from before the request.
func awaitExpiry(t *testing.T, d dbtest.Database) {
	t.Helper()
	dbtest.Until(t, "the lease is over", func() bool { return seconds(t, d) < 0 })
}

// D-63: a lease whose acquirer waited for the row is whole when it gets it.
func TestBornWhole(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	s := parts.NewLeases(d.DB, "", nil)
	first, err := s.Acquire(t.Context(), "n", lease.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	tx := locked(t, d, "FOR UPDATE")
	type result struct {
		l   *lease.Lease
		err error
	}
	got := make(chan result, 1)
	go func() {
		// The gate keeps the grant as it was born: nothing renews it.
		g := &gate{DB: d.Another(t)}
		g.Fail("lease/renew", errors.New("not now"))
		l, err := parts.NewLeases(g, "", nil).Acquire(t.Context(), "n", lease.Options{Duration: time.Minute})
		got <- result{l, err}
	}()
	blocked(t, d, "lease_acquire")
	d.Pass(3 * time.Second)
	var before float64
	d.Row(t, "SELECT extract(epoch FROM clock_timestamp())::float8", &before)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	defer r.l.Close(context.Background())
	var until float64
	d.Row(t, "SELECT extract(epoch FROM lease_until_utc)::float8 FROM "+d.Table("lease")+" WHERE name = 'n'", &until)
	if until < before+60 {
		t.Fatalf("born with %.1f of 60 s", until-before)
	}
}

// D-62, D-63: the same by the acquirer's clock: it renews before it begins.
func TestBornWholeByTheHoldersClock(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	s := parts.NewLeases(d.DB, "", nil)
	first, err := s.Acquire(t.Context(), "n", lease.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	tx := locked(t, d, "FOR UPDATE")
	got := make(chan *lease.Lease, 1)
	go func() {
		l, err := s.Acquire(t.Context(), "n", lease.Options{Duration: real})
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	blocked(t, d, "lease_acquire")
	d.Pass(real + time.Second)
	before := time.Now()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	l := <-got
	if l == nil {
		return
	}
	defer l.Close(context.Background())
	if left := l.Deadline().Sub(before); left < real {
		t.Fatalf("born with %v", left)
	}
}

// D-63: a renewal that waits for the row until the lease is over is too late,
// though nobody changed the row.
func TestRenewalThatWaitsTooLong(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	l := dying(t, d, real)
	tx := locked(t, d, "FOR UPDATE")
	ours := make(chan int64, 1)
	go func() {
		var n int64
		err := d.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM "+d.Table("lease")+" l, LATERAL "+d.Table("lease_renew_row")+"(l.name, l.holder, '1 h')").Scan(&n)
		if err != nil {
			t.Error(err)
		}
		ours <- n
	}()
	blocked(t, d, "lease_renew")
	<-l.Context().Done()
	awaitExpiry(t, d)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := <-ours; n != 0 {
		t.Fatal("a lease was renewed after its end")
	}
}

// dying returns a lease that nobody renews.
func dying(t *testing.T, d dbtest.Database, lasts time.Duration) *lease.Lease {
	t.Helper()
	g := &gate{DB: d.DB}
	g.Fail("lease/renew", errors.New("dead"))
	l, err := parts.NewLeases(g, "", nil).Acquire(t.Context(), "n", lease.Options{Duration: lasts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

// D-64: a guard that had to wait for the row looks at the clock after that.
func TestGuardThatWaitsTooLong(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	l := dying(t, d, 10*time.Second) // it has to ask before
	tx := locked(t, d, "FOR UPDATE")
	refused := make(chan error, 1)
	go func() {
		mine, err := d.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			refused <- err
			return
		}
		defer mine.Rollback()
		refused <- l.Guard(t.Context(), mine)
	}()
	blocked(t, d, "lease_guard")
	<-l.Context().Done()
	awaitExpiry(t, d)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; !errors.Is(err, lease.ErrLost) {
		t.Fatalf("want ErrLost, got %v", err)
	}
}

// D-62, D-64: renewals pass a guarded transaction, and so do other guards, so
// that a long transaction does not cost its holder the lease; meanwhile others
// are told at once that it is held.
func TestLongGuardedTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	s := parts.NewLeases(d.DB, "", nil)
	l, err := s.Acquire(t.Context(), "n", long)
	if err != nil {
		t.Fatal(err)
	}
	tx := d.Begin(t)
	defer tx.Rollback()
	if err := l.Guard(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Acquire(t.Context(), "n", lease.Options{}); !errors.Is(err, lease.ErrHeld) {
			t.Fatal(err)
		}
		renewed(t, l)
	}
	other, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Rollback()
	if err := l.Guard(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil { // nor does it wait for them
		t.Fatal(err)
	}
	if err := errors.Join(other.Commit(), tx.Commit()); err != nil {
		t.Fatal(err)
	}
}

// D-64: a guard in a pgx transaction.
func TestGuardInPgxTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	s := parts.NewLeases(d.DB, "", nil)
	l, err := s.Acquire(t.Context(), "n", lease.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(context.Background())
	for _, want := range []error{nil, lease.ErrLost} {
		tx, err := d.DB.(*postgres.DB).Pool().Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Guard(t.Context(), tx); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("want %v, got %v", want, err)
		}
		_ = tx.Rollback(t.Context())
		if _, err := s.ForceRelease(t.Context(), "n"); err != nil {
			t.Fatal(err)
		}
	}
}
