package main

import (
	"context"
	"time"
)

// Scenario A: a backlog is written in batches and then worked off.

func cycles(n int) []scenario {
	const title = "enqueue in batches of 100 by 2 producers, then drain with handlers"
	return []scenario{
		{"A", "postgres", title, []string{colRate}, versus("postgres", n, cycleQueue,
			system{"bare layout", n, cycleFloor(newBarePostgres)},
			system{"insert + select", n, cycleFloor(newPlainPostgres(0))},
		)},
		{"A", "sqlite", title + ", synchronous=FULL", []string{colRate}, versus("sqlite", n, cycleQueue,
			system{"insert + select + delete", n, cycleFloor(newPlainSQLite(false))},
		)},
		{"A", "sqlite", title + ", Relaxed", []string{colRate}, versus("sqlite", n,
			func(open queueOpener) measurement { return relaxed(cycleQueue(open)) },
			system{"insert + select + delete", n, cycleFloor(newPlainSQLite(true))},
		)},
	}
}

// cycle measures two phases after a warm-up of both, and calls r.stop after the second
// one each time.
func cycle(ctx context.Context, r *run, in, out func(n int) error) error {
	defer r.stopped()
	for _, phase := range []func(int) error{in, out} {
		if err := phase(r.warm()); err != nil {
			return err
		}
	}
	if err := r.stopped(); err != nil {
		return err
	}
	r.written = r.warm() + r.n
	var middle time.Time
	start := time.Now()
	took, err := r.measured(ctx, r.n, func() error {
		start = time.Now()
		err := in(r.n)
		if middle = time.Now(); err != nil {
			return err
		}
		return out(r.n)
	})
	if err != nil {
		return err
	}
	first := middle.Sub(start)
	r.rate(colEnqueue, r.n, first)
	r.rate(colDrain, r.n, took-first)
	r.rate(colRate, r.n, took)
	return r.stopped()
}

// cycleQueue begins to handle once everything is enqueued. How long a system takes to
// stop is not measured.
func cycleQueue(open queueOpener) measurement {
	return func(ctx context.Context, r *run) error {
		t, err := newTrial(ctx, r, open, r.warm()+r.n, nil)
		if err != nil {
			return err
		}
		defer t.Close()
		total := 0
		err = cycle(ctx, r,
			func(n int) error { return t.fill(ctx, n, nil) },
			func(n int) error {
				total += n
				r.stop = t.start(ctx)
				return t.await(ctx, total)
			})
		if err != nil {
			return err
		}
		return t.audit(r, total)
	}
}

func cycleFloor(build maker) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		f, err := build(ctx, r)
		if err != nil {
			return err
		}
		defer f.close()
		var s ids
		return cycle(ctx, r,
			func(n int) error { return fill(ctx, f, &s, n, nil) },
			func(n int) error { return empty(ctx, f, n, func(int) {}) })
	}
}
