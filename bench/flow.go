package main

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// Scenario N: what handlers cost that get batches, have a limit of their own, or take all topics
// that begin alike; and messages with keys.

func flows(n int) []scenario {
	const title = "scenario A, drained by handlers of other kinds"
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"N", e.engine, title, []string{colDrain}, []system{
			{"plain", n, flow(e.open, nil, handle)},
			{"batches of 100", n, flow(e.open, nil, inBatches)},
			{"8 at once", n, flow(e.open, nil, limited)},
			{"one name for all topics", n, flow(e.open, nil, relay)},
			{"10 000 ordering keys", n, flow(e.open, ordered(10_000), handle)},
			{"100 ordering keys", n, flow(e.open, ordered(100), handle)},
			{"one ordering key", n / 50, flow(e.open, ordered(1), handle)},
		}})
	}
	return all
}

// flow enqueues n messages, which change, if not nil, makes of plain ones, and drains them. change is
// told how many were made before.
func flow(open opener, change func(i int, m *outbox.Message), register func(o *outbox.Outbox, note func())) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *outbox.Outbox) error {
		return cycle(ctx, r,
			func(n int) error { return produceChanged(ctx, o, n, change) },
			func(n int) error { return drainWith(ctx, db, n, outbox.Options{}, register) })
	})
}

// produceChanged is produce of messages that change made.
func produceChanged(ctx context.Context, o *outbox.Outbox, n int, change func(i int, m *outbox.Message)) error {
	if change == nil {
		return produce(ctx, o, n)
	}
	var made atomic.Int64
	return parallel(producers, n/batchSize, func(int) error {
		batch := messages(batchSize)
		for i := range batch {
			change(int(made.Add(1)), &batch[i])
		}
		_, err := o.EnqueueBatch(ctx, batch)
		return err
	})
}

// ordered gives messages one of so many ordering keys.
func ordered(keys int) func(i int, m *outbox.Message) {
	return func(i int, m *outbox.Message) { m.OrderingKey = strconv.Itoa(i % keys) }
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
