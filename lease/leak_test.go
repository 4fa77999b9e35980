package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
)

// D-61, D-62: no goroutine outlives what it is for: neither that of a lease that
// was closed, nor that of one that was lost and forgotten, nor that of a waiter.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, e := range dbtest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			d := e.Open(t)
			before := enginetest.Running()
			var handles []engine.DB
			t.Run("while open", func(inner *testing.T) {
				// Closed by hand, before the check.
				g := &gate{DB: d.Another(t)}
				handles = append(handles, g.DB)
				everyWay(inner, g)
			})
			for _, db := range handles {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
			if left := before.Left(); left != "" {
				t.Errorf("left behind:\n%s", left)
			}
		})
	}
}

// everyWay lets leases end in every way.
func everyWay(t *testing.T, g *gate) {
	s := parts.NewLeases(g, "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	held, err := s.Acquire(ctx, "n", lease.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() {
		_, err := s.AcquireWait(ctx, "n", lease.Options{})
		ended <- err
	}()
	go func() { ended <- s.Elect(ctx, "n", lease.Options{}, nil) }()
	dbtest.Until(t, "two wait", func() bool {
		i, err := s.Get(t.Context(), "n")
		return err == nil && i.Waiting == 2
	})
	cancel()
	for range 2 {
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if err := held.Close(ctx); err != nil {
		t.Error(err)
	}
	forgotten, err := s.Acquire(t.Context(), "n", lease.Options{Duration: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	g.Block("lease/renew")
	<-forgotten.Context().Done()
}
