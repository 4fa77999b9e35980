package main

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// Scenario F: what it costs a message to be a step of a join.

// fanOutSize is how many steps a join of scenario F has: ten batches.
const fanOutSize = 10 * batchSize

func fanOuts(n int) []scenario {
	const title = "joins of 1 000 steps: FanOut, then drain, beside as many messages in batches of 1 000"
	n = max(1, n/fanOutSize) * fanOutSize
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"F", e.engine, title, []string{colEnqueue, colDrain}, []system{
			{"steps", n, fanOut(e.open, func(ctx context.Context, o *parts.Outbox, j *parts.Joins, batch []outbox.Message) error {
				_, err := j.FanOut(ctx, join.Spec{}, batch, join.Wait{})
				return err
			})},
			{"messages", n, fanOut(e.open, func(ctx context.Context, o *parts.Outbox, _ *parts.Joins, batch []outbox.Message) error {
				_, err := o.EnqueueBatch(ctx, batch)
				return err
			})},
		}})
	}
	return all
}

func fanOut(open opener, enqueue func(context.Context, *parts.Outbox, *parts.Joins, []outbox.Message) error) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *parts.Outbox) error {
		j := parts.NewJoins(db, o, join.Options{}, nil)
		batch := messages(fanOutSize)
		return cycle(ctx, r,
			func(n int) error {
				return parallel(producers, (n+fanOutSize-1)/fanOutSize, func(int) error { return enqueue(ctx, o, j, batch) })
			},
			func(n int) error {
				return drain(ctx, db, (n+fanOutSize-1)/fanOutSize*fanOutSize, worker.Options{})
			})
	})
}
