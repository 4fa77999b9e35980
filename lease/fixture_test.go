package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
)

const (
	// short is a lease that a test waits for, and yet longer than a busy machine
	// takes between two statements.
	short = 3 * time.Second
	name  = "close-books"
)

// fixture is leases on a fresh database.
type fixture struct {
	*lease.Leases
	t    *testing.T
	db   dbtest.Database
	gate *gate // before f.Leases
}

func open(t *testing.T, e dbtest.Engine) *fixture {
	t.Helper()
	db := e.Open(t)
	return over(t, db, db.DB)
}

func over(t *testing.T, db dbtest.Database, door engine.DB) *fixture {
	gate := &gate{DB: door}
	return &fixture{Leases: parts.NewLeases(gate, "", nil), t: t, db: db, gate: gate}
}

// another is the same database as another process sees it.
func (f *fixture) another() *fixture {
	f.t.Helper()
	return over(f.t, f.db, f.db.Another(f.t))
}

// wakeable is another or, where processes do not wake each other, another one of this process.
func (f *fixture) wakeable() *fixture {
	if f.db.Notifies() {
		return f.another()
	}
	return over(f.t, f.db, f.gate.DB)
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

// acquire insists on getting a lease, which is closed with the test.
func (f *fixture) acquire(opts lease.Options) *lease.Lease {
	f.t.Helper()
	l, err := f.Acquire(f.ctx(), name, opts)
	return f.mine(l, err)
}

func (f *fixture) mine(l *lease.Lease, err error) *lease.Lease {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

// dying returns a short lease whose holder does not renew it.
func (f *fixture) dying() *lease.Lease {
	f.t.Helper()
	dead := f.another()
	dead.gate.Fail("lease/renew", errors.New("dead"))
	l, err := dead.Acquire(f.ctx(), name, lease.Options{Duration: short, Owner: "dying"})
	for errors.Is(err, lease.ErrLost) { // the answer came when it was over
		l, err = dead.Acquire(f.ctx(), name, lease.Options{Duration: short, Owner: "dying"})
	}
	return dead.mine(l, err)
}

// held insists on a *lease.HeldError.
func (f *fixture) held() *lease.HeldError {
	f.t.Helper()
	_, err := f.Acquire(f.ctx(), name, lease.Options{})
	var held *lease.HeldError
	if !errors.As(err, &held) || !errors.Is(err, lease.ErrHeld) || held.Name != name {
		f.t.Fatalf("want a HeldError, got %v", err)
	}
	return held
}

func (f *fixture) close(l *lease.Lease) {
	f.t.Helper()
	if err := l.Close(f.ctx()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) info() *lease.Info {
	f.t.Helper()
	info, err := f.Get(f.ctx(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	return info
}

// waiting waits until so many stand in line.
func (f *fixture) waiting(n int) {
	f.t.Helper()
	dbtest.Until(f.t, "the line is as long as it should be", func() bool { return f.info().Waiting == n })
}

// ended insists on why a lease ended, and on its context saying the same.
func (f *fixture) ended(l *lease.Lease, want error) {
	f.t.Helper()
	if err := l.Err(); !errors.Is(err, want) {
		f.t.Fatalf("the lease's error is %v, want %v", err, want)
	}
	if l.Context().Err() == nil || !errors.Is(context.Cause(l.Context()), want) {
		f.t.Fatalf("the context's cause is %v, want %v", context.Cause(l.Context()), want)
	}
}

// nth is the number of a lease's acquisition within a generation of the database that a
// token stands for: its low bits. D-111: the others are the generation's number.
func nth(token int64) int64 { return token & (1<<engine.TokenBits - 1) }
