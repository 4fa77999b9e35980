package main

import (
	"context"
)

// Scenario C: every message in a durable transaction of its own, as request
// handlers write them, and a worker that handles them meanwhile.

const writers = 16

func singles(n int) []scenario {
	const title = "one message per durable transaction, 16 producers, handled meanwhile"
	return []scenario{
		{"C", "postgres", title, []string{colRate}, versus("postgres", n/4, singleQueue,
			system{"begin, insert, commit", n / 4, singleFloor(newPlainPostgres(writers))},
		)},
		{"C", "sqlite", title + ", synchronous=FULL", []string{colRate}, versus("sqlite", n/12, singleQueue,
			system{"begin, insert, commit", n / 12, singleFloor(newPlainSQLite(false))},
		)},
	}
}

func singleQueue(open queueOpener) measurement {
	return func(ctx context.Context, r *run) error {
		t, err := newTrial(ctx, r, open, r.warm()+r.n, nil)
		if err != nil {
			return err
		}
		defer t.Close()
		enqueue := func(int) error { return t.EnqueueTx(ctx, t.numbers.take(1)[0]) }
		return beside(ctx, r, t, func(n, total int) error {
			if err := parallel(writers, n, enqueue); err != nil {
				return err
			}
			return t.await(ctx, total)
		})
	}
}

func singleFloor(build maker) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		f, err := build(ctx, r)
		if err != nil {
			return err
		}
		defer f.close()
		var s ids
		insert := func(int) error { return f.insertTx(ctx, s.take(1)[0]) }
		return only(ctx, r, func(n int) error { return parallel(writers, n, insert) })
	}
}

// only measures one phase after its warm-up.
func only(ctx context.Context, r *run, work func(n int) error) error {
	if err := work(r.warm()); err != nil {
		return err
	}
	r.written = r.warm() + r.n
	took, err := r.measured(ctx, r.n, func() error { return work(r.n) })
	if err == nil {
		r.rate(colRate, r.n, took)
	}
	return err
}
