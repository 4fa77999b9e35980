package main

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// Scenario N: what handlers cost that get batches, have a limit of their own, or take all topics
// that begin alike.

func flows(n int) []scenario {
	const title = "scenario A, drained by handlers of other kinds"
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"N", e.engine, title, []string{colDrain}, []system{
			{"plain", n, flow(e.open, handle)},
			{"batches of 100", n, flow(e.open, inBatches)},
			{"8 at once", n, flow(e.open, limited)},
			{"one name for all topics", n, flow(e.open, relay)},
		}})
	}
	return all
}

func flow(open opener, register func(o *outbox.Outbox, note func())) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *outbox.Outbox) error {
		return cycle(ctx, r,
			func(n int) error { return produce(ctx, o, n) },
			func(n int) error { return drainWith(ctx, db, n, outbox.Options{}, register) })
	})
}

func inBatches(o *outbox.Outbox, note func()) {
	for _, t := range topics() {
		o.HandleBatch(t, func(_ context.Context, messages []*outbox.Message) []error {
			for range messages {
				note()
			}
			return make([]error, len(messages))
		}, outbox.BatchOptions{})
	}
}

func limited(o *outbox.Outbox, note func()) {
	for _, t := range topics() {
		o.Handle(t, noting(note), outbox.HandlerOptions{Concurrency: 8})
	}
}

func relay(o *outbox.Outbox, note func()) { o.Handle("*", noting(note)) }
