package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// floor is what pawl is compared with: hand-written SQL against the same
// database, by as short a way as the driver has.
type floor interface {
	// insert stores rows in one transaction of their own.
	insert(ctx context.Context, ids []int64) error
	// insertTx stores one row between BEGIN and COMMIT, as a program does that
	// writes data of its own as well.
	insertTx(ctx context.Context, id int64) error
	// take hands out up to n rows and has done with those of the last call.
	// After it has returned 0 there is nothing left to settle.
	take(ctx context.Context, n int) (int, error)
	close()
}

// maker makes a floor in the repetition's database.
type maker func(ctx context.Context, r *run) (floor, error)

// ids hands out consecutive numbers.
type ids struct{ last atomic.Int64 }

func (s *ids) take(n int) []int64 {
	end := s.last.Add(int64(n))
	all := make([]int64, n)
	for i := range all {
		all[i] = end - int64(n) + int64(i) + 1
	}
	return all
}

// fill inserts n rows in batches by several producers.
func fill(ctx context.Context, f floor, s *ids, n int, room chan struct{}) error {
	return parallel(producers, n/batchSize, func(int) error {
		if room != nil {
			room <- struct{}{}
		}
		return f.insert(ctx, s.take(batchSize))
	})
}

// empty takes rows until it had n and everything is settled.
func empty(ctx context.Context, f floor, n int, note func(taken int)) error {
	taken, since := 0, time.Now()
	for {
		k, err := f.take(ctx, claimSize)
		if err != nil {
			return err
		}
		taken += k
		note(k)
		switch {
		case k > 0:
			since = time.Now()
		case taken == n:
			return nil
		case taken > n, time.Since(since) > stall:
			return exactly(n, int64(taken), int64(taken))
		default:
			time.Sleep(500 * time.Microsecond)
		}
	}
}

// both runs two things at once.
func both(a, b func() error) error {
	var all sync.WaitGroup
	var errs [2]error
	all.Go(func() { errs[0] = a() })
	all.Go(func() { errs[1] = b() })
	all.Wait()
	return errors.Join(errs[:]...)
}
