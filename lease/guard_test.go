package lease_test

import (
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/lease"
)

// effects is a table for guarded writes.
func (f *fixture) effects() {
	f.t.Helper()
	if _, err := f.db.SQL.ExecContext(f.ctx(), "CREATE TABLE "+f.db.Table("effects")+" (token BIGINT NOT NULL)"); err != nil {
		f.t.Fatal(err)
	}
}

// write makes an effect under a lease's guard and returns the guard's error.
func (f *fixture) write(l *lease.Lease) error {
	f.t.Helper()
	tx := f.db.Begin(f.t)
	defer tx.Rollback()
	if err := l.Guard(f.ctx(), tx); err != nil {
		return err
	}
	f.effect(tx, l)
	if err := tx.Commit(); err != nil {
		f.t.Fatal(err)
	}
	return nil
}

func (f *fixture) effect(tx *sql.Tx, l *lease.Lease) {
	f.t.Helper()
	if _, err := tx.ExecContext(f.ctx(), "INSERT INTO "+f.db.Table("effects")+" VALUES ($1)", l.Token()); err != nil {
		f.t.Fatal(err)
	}
}

// D-64
func TestGuardHolder(t *testing.T) { dbtest.Each(t, testGuardHolder) }

func testGuardHolder(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.effects()
	l := f.acquire(lease.Options{Duration: time.Hour})
	for range 2 {
		if err := f.write(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if i := f.info(); i.Token != l.Token() || i.Owner != l.Owner() {
		t.Fatalf("guarding made it %+v", i)
	}
}

// stale insists on a guard's refusal, and on the lease being over.
func (f *fixture) stale(l *lease.Lease) {
	f.t.Helper()
	if err := f.write(l); !errors.Is(err, lease.ErrLost) {
		f.t.Fatalf("want ErrLost, got %v", err)
	}
	f.ended(l, lease.ErrLost)
}

// D-64, D-60
func TestGuardForced(t *testing.T) { dbtest.Each(t, testGuardForced) }

func testGuardForced(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.effects()
	l := f.acquire(lease.Options{Duration: time.Hour})
	if _, err := f.ForceRelease(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	f.stale(l)
}

// D-64: though nobody else has taken it yet.
func TestGuardExpired(t *testing.T) { dbtest.Each(t, testGuardExpired) }

func testGuardExpired(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.effects()
	l := f.dying()
	f.db.Pass(short + 20*time.Millisecond)
	f.stale(l)
}

// D-64: the next holder may write, the last one may not, whoever comes first.
func TestGuardTaken(t *testing.T) { dbtest.Each(t, testGuardTaken) }

func testGuardTaken(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.effects()
	l := f.dying()
	f.db.Pass(short + 20*time.Millisecond)
	next := f.acquire(lease.Options{Owner: "dying", Duration: time.Hour})
	f.stale(l)
	if err := f.write(next); err != nil {
		t.Fatal(err)
	}
	f.stale(l)
}

// D-64
func TestGuardClosed(t *testing.T) { dbtest.Each(t, testGuardClosed) }

func testGuardClosed(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.effects()
	l := f.acquire(lease.Options{Duration: time.Hour})
	f.close(l)
	if err := f.write(l); !errors.Is(err, lease.ErrClosed) {
		t.Fatalf("want ErrClosed, got %v", err)
	}
}

// D-64: between a guard and its commit nobody takes the lease, not even when it
// has run out, and not by force.
func TestGuardKeepsOut(t *testing.T) { dbtest.Each(t, testGuardKeepsOut) }

func testGuardKeepsOut(t *testing.T, e dbtest.Engine) {
	for what, take := range map[string]func(*fixture) error{
		"acquire": func(f *fixture) error {
			l, err := f.AcquireWait(f.ctx(), name, lease.Options{Duration: time.Hour})
			if err == nil {
				err = l.Close(f.ctx())
			}
			return err
		},
		"force": func(f *fixture) error {
			_, err := f.ForceRelease(f.ctx(), name)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := open(t, e)
			f.effects()
			l, tx := f.guarded()
			defer tx.Rollback()
			var committed atomic.Bool
			taken := make(chan error, 1)
			other := f.another()
			go func() {
				err := take(other)
				if err == nil && !committed.Load() {
					err = errors.New("taken before the commit")
				}
				taken <- err
			}()
			f.db.Pass(short + time.Second)
			select {
			case err := <-taken:
				t.Fatalf("before the commit: %v", err)
			default:
			}
			f.effect(tx, l)
			committed.Store(true)
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := <-taken; err != nil {
				t.Fatal(err)
			}
			f.stale(l)
		})
	}
}

// guarded returns a dying lease and a transaction under its guard. One that ended
// before is no failure: the machine was busy.
func (f *fixture) guarded() (*lease.Lease, *sql.Tx) {
	f.t.Helper()
	for tries := 1; ; tries++ {
		l, tx := f.dying(), f.db.Begin(f.t)
		err := l.Guard(f.ctx(), tx)
		if err == nil {
			return l, tx
		}
		_ = tx.Rollback()
		if tries == 3 || !errors.Is(err, lease.ErrLost) {
			f.t.Fatal(err)
		}
		f.db.Pass(short)
	}
}

// D-64, D-3: a guard ends with its transaction.
func TestGuardRolledBack(t *testing.T) { dbtest.Each(t, testGuardRolledBack) }

func testGuardRolledBack(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	l := f.acquire(lease.Options{Duration: time.Hour})
	tx := f.db.Begin(t)
	if err := l.Guard(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	_ = tx.Rollback()
	if there, err := f.another().ForceRelease(t.Context(), name); !there || err != nil {
		t.Fatal(there, err)
	}
}
