package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
)

// D-63: a lease whose acquirer waited for the file's write lock, for longer than
// the lease is long, is whole when it gets it.
func TestBornWholeOnSQLite(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenSQLite(t)
	g := &gate{DB: d.Another(t)}
	g.Fail("lease/renew", errors.New("not now")) // the grant stays as it was born
	s := parts.NewLeases(g, "", nil)
	tx := d.Begin(t)
	got := make(chan *lease.Lease, 1)
	go func() {
		l, err := s.Acquire(t.Context(), "n", lease.Options{Duration: time.Minute})
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	dbtest.Until(t, "it asks", func() bool { return len(g.Seen("lease/acquire")) == 1 })
	d.Pass(time.Hour)
	ends := time.Now().Add(time.Hour)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	l := <-got
	if l == nil {
		return
	}
	defer l.Close(context.Background())
	i, err := s.Get(t.Context(), "n")
	if err != nil {
		t.Fatal(err)
	}
	if left := i.Until.Sub(ends); left < time.Minute-time.Second {
		t.Fatalf("born with %v", left)
	}
}
