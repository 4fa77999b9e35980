package coalesce

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// D-4: a patient caller learns its result even after its context ended, so
// that nothing of it is used by the group any more when Do returns.
func TestAPatientCallerGetsItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine := errors.New("mine")
		g := &Group[int]{Leaders: 1, Max: 10, Patient: true, Run: func(_ context.Context, b []int) []error {
			time.Sleep(time.Second)
			errs := make([]error, len(b))
			for i, n := range b {
				if n == 2 {
					errs[i] = mine
				}
			}
			return errs
		}}
		go func() { _ = g.Do(context.Background(), 0) }()
		synctest.Wait()
		go func() { _ = g.Do(context.Background(), 1) }() // will lead, with 2 in its batch
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := g.Do(ctx, 2); !errors.Is(err, mine) || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// D-4: a caller that gives up in the moment it is told to lead still leads:
// others wait for it.
func TestALeadIsNeverDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var carried atomic.Int64
		g := &Group[int]{Leaders: 2, Max: 3, Run: func(_ context.Context, b []int) []error {
			carried.Add(int64(len(b)))
			time.Sleep(time.Millisecond)
			return nil
		}}
		var ran, gone atomic.Int64
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%7)*time.Millisecond)
				defer cancel()
				switch err := g.Do(ctx, i); {
				case err == nil || errors.Is(err, ErrUnderWay):
					ran.Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					gone.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		if carried.Load() != ran.Load() || ran.Load()+gone.Load() != 500 || gone.Load() == 0 {
			t.Errorf("carried %d; %d callers say it ran, %d that it did not", carried.Load(), ran.Load(), gone.Load())
		}
		if err := g.Do(t.Context(), 0); err != nil { // nobody's place is lost
			t.Error(err)
		}
		if g.leading != 0 || len(g.queue) != 0 {
			t.Errorf("%d lead, %d wait", g.leading, len(g.queue))
		}
	})
}

// D-3: a batch never holds more than it may, and all leaders work at once.
func TestBatchesAndLeadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, largest atomic.Int64
		g := &Group[int]{Leaders: 3, Max: 4, Run: func(_ context.Context, b []int) []error {
			keepMax(&most, now.Add(1))
			keepMax(&largest, int64(len(b)))
			time.Sleep(time.Millisecond)
			now.Add(-1)
			return nil
		}}
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if err := g.Do(t.Context(), i); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 3 || largest.Load() != 4 {
			t.Errorf("%d leaders at once, %d items in a batch", most.Load(), largest.Load())
		}
	})
}

func keepMax(most *atomic.Int64, n int64) {
	for {
		old := most.Load()
		if n <= old || most.CompareAndSwap(old, n) {
			return
		}
	}
}
