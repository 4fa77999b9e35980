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

func TestCallsThatWaitShareABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var batches [][]int
		g := &Group[int]{Leaders: 1, Max: 100, Run: func(_ context.Context, b []int) []error {
			time.Sleep(time.Second)
			batches = append(batches, b)
			return nil
		}}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if err := g.Do(t.Context(), i); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(batches) != 2 || len(batches[0]) != 1 || len(batches[1]) != 49 {
			t.Fatalf("want a batch of 1 and one of 49, got %d batches", len(batches))
		}
	})
}

func TestEachItemGetsItsOwnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		odd := errors.New("odd")
		g := &Group[int]{Leaders: 2, Max: 7, Run: func(_ context.Context, b []int) []error {
			time.Sleep(time.Millisecond)
			errs := make([]error, len(b))
			for i, n := range b {
				if n%2 == 1 {
					errs[i] = odd
				}
			}
			return errs
		}}
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				if err := g.Do(t.Context(), i); (err != nil) != (i%2 == 1) {
					t.Errorf("item %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestCancelledBeforeItWasTakenDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		g := &Group[int]{Leaders: 1, Max: 10, Run: func(_ context.Context, b []int) []error {
			ran.Add(int32(len(b)))
			time.Sleep(time.Second)
			return nil
		}}
		go func() { _ = g.Do(context.Background(), 0) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := g.Do(ctx, 1); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnderWay) {
			t.Fatalf("want a plain deadline, got %v", err)
		}
		time.Sleep(2 * time.Second)
		if ran.Load() != 1 {
			t.Fatalf("the cancelled item ran")
		}
	})
}

func TestCancelledUnderWayIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Group[int]{Leaders: 1, Max: 10, Run: func(_ context.Context, _ []int) []error {
			time.Sleep(time.Second)
			return nil
		}}
		go func() { _ = g.Do(context.Background(), 0) }()
		synctest.Wait()
		go func() { _ = g.Do(context.Background(), 1) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if err := g.Do(ctx, 2); !errors.Is(err, ErrUnderWay) {
			t.Fatalf("want ErrUnderWay, got %v", err)
		}
		time.Sleep(time.Second)
	})
}

func TestALeaderThatIsCancelledCarriesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Group[int]{Leaders: 1, Max: 10, Run: func(ctx context.Context, _ []int) []error {
			time.Sleep(time.Second)
			if ctx.Err() != nil {
				t.Error("the batch saw its leader's cancellation")
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.Do(ctx, 0) }()
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

// D-795: when a batch panics, or ends its goroutine, those whose items are in it get an error, and later ones run.
func TestPanicStrandsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Group[int]{Leaders: 1, Max: 10, Patient: true, Run: func(_ context.Context, b []int) []error {
			time.Sleep(time.Second)
			if b[0] == 1 {
				panic("of the test")
			}
			return nil
		}}
		results := make([]error, 4)
		var wg sync.WaitGroup
		for i := range results {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // 0 leads, 1 leads the others
				defer func() { _ = recover() }()
				results[i] = g.Do(t.Context(), i)
			})
		}
		wg.Wait()
		if results[0] != nil || !errors.Is(results[2], ErrUnderWay) || !errors.Is(results[3], ErrUnderWay) {
			t.Errorf("results: %v", results)
		}
		if err := g.Do(t.Context(), 5); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
