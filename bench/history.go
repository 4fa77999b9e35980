package main

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
)

// Scenario H: scenario A in a database that holds much already.

const (
	// doneFor and futureFor are how many handled messages, and how many that are due in a
	// month, lie there for each one that is measured: 5 million and 1 million if n is not
	// changed.
	doneFor   = 83
	futureFor = 17
	// historyBatch is messages per enqueue while the history is made.
	historyBatch = 1000
)

func histories(n int) []scenario {
	const title = "scenario A beside 5 million handled messages and 1 million due in a month"
	n = max(n, historyBatch) / historyBatch * historyBatch
	return []scenario{{"H", "postgres", title, []string{colEnqueue, colDrain, colRate}, []system{
		{"much stored", n, history(openPostgres, doneFor, futureFor)},
		{"nothing stored", n, history(openPostgres, 0, 0)},
	}}}
}

func history(open opener, done, future int) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *parts.Outbox) error {
		if err := store(ctx, o, db, r.n*done, r.n*future); err != nil {
			return err
		}
		return cycle(ctx, r,
			func(n int) error { return produce(ctx, o, n) },
			func(n int) error { return drain(ctx, db, n, worker.Options{}) })
	})
}

// store makes a history, in parts, since messages that are handled soon after they were
// written are what a table in use holds.
func store(ctx context.Context, o *parts.Outbox, db engine.DB, done, future int) error {
	put := func(n int, due time.Time) error {
		batch := messages(historyBatch)
		for i := range batch {
			batch[i].Due = due
		}
		return parallel(producers, n/historyBatch, func(int) error {
			_, err := o.EnqueueBatch(ctx, batch)
			return err
		})
	}
	if err := put(future, time.Now().Add(30*24*time.Hour)); err != nil {
		return err
	}
	const part = 500 * historyBatch
	for done > 0 {
		n := min(part, done)
		if err := put(n, time.Time{}); err != nil {
			return err
		}
		if err := drain(ctx, db, n, worker.Options{}); err != nil {
			return err
		}
		done -= n
	}
	return nil
}
