package main

import (
	"context"
	"time"

	"github.com/bravellian/pawl/outbox"
)

// Scenario A: a backlog is written in batches and then worked off.

func cycles(n int) []scenario {
	const title = "enqueue in batches of 100 by 2 producers, then drain with handlers"
	return []scenario{
		{"A", "postgres", title, []string{colRate}, []system{
			{"pawl", n, cyclePawl(openPostgres)},
			{"bare layout", n, cycleFloor(newBarePostgres)},
			{"insert + select", n, cycleFloor(newPlainPostgres(0))},
		}},
		{"A", "sqlite", title + ", synchronous=FULL", []string{colRate}, []system{
			{"pawl", n, cyclePawl(openSQLite(false))},
			{"insert + select + delete", n, cycleFloor(newPlainSQLite(false))},
		}},
		{"A", "sqlite", title + ", Relaxed", []string{colRate}, []system{
			{"pawl", n, cyclePawl(openSQLite(true))},
			{"insert + select + delete", n, cycleFloor(newPlainSQLite(true))},
		}},
	}
}

// cycle measures two phases after a warm-up of both.
func cycle(ctx context.Context, r *run, in, out func(n int) error) error {
	for _, phase := range []func(int) error{in, out} {
		if err := phase(r.warm()); err != nil {
			return err
		}
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
	return nil
}

func cyclePawl(open opener) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		db, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		o := outbox.New(db, outbox.Options{})
		return cycle(ctx, r,
			func(n int) error { return produce(ctx, o, n, nil) },
			func(n int) error { return drain(ctx, db, n, outbox.Options{}) })
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
