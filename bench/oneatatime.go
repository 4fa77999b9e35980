package main

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
)

// Scenario S: nothing to share a transaction with. One producer, one handler,
// one message per claim: what a small program does all day.

func oneByOnes(n int) []scenario {
	return []scenario{{"S", "sqlite", "enqueued and settled one at a time, synchronous=FULL", []string{colRate}, []system{
		{"pawl", n / 30, oneByOnePawl(openSQLite(false))},
		{"insert, delete", n / 30, oneByOneFloor(newPlainSQLite(false))},
	}}}
}

func oneByOnePawl(open opener) func(context.Context, *run) error {
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *parts.Outbox) error {
		m := messages(1)[0]
		enqueue := func(int) error {
			_, err := o.Enqueue(ctx, m)
			return err
		}
		return cycle(ctx, r,
			func(n int) error { return parallel(1, n, enqueue) },
			func(n int) error { return drain(ctx, db, n, worker.Options{Concurrency: 1, BatchSize: 1}) })
	})
}

func oneByOneFloor(build maker) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		f, err := build(ctx, r)
		if err != nil {
			return err
		}
		defer f.close()
		var s ids
		return cycle(ctx, r,
			func(n int) error { return parallel(1, n, func(int) error { return f.insert(ctx, s.take(1)) }) },
			func(n int) error {
				for range n {
					if _, err := f.take(ctx, 1); err != nil {
						return err
					}
				}
				return nil
			})
	}
}
