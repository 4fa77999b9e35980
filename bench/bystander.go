package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Scenario bystander: what a program's own work in the database loses to a queue beside it.

const (
	// bystanders are connections that update a row after the other, each in a transaction.
	bystanders = 4
	// bystanderRate is how many messages go through the queue a second, each enqueued in a transaction of its own.
	bystanderRate = 1000
	// bystanderSeconds are those of a row with -n 60000.
	bystanderSeconds = 15
)

func bystandings(n int) []scenario {
	const title = "4 connections update rows of a table of the program's, each in a transaction, while 1 000 messages a second are enqueued one by one and handled"
	count := max(n*bystanderSeconds/60_000, 1) * bystanderRate
	var systems []system
	for _, q := range mainQueues("postgres") {
		systems = append(systems, system{"beside " + q.name, count, bystood(atRate(q.open, bystanderRate))})
	}
	systems = append(systems, system{plain, count, bystood(func(ctx context.Context, r *run) error {
		_, err := r.measured(ctx, r.n, func() error {
			time.Sleep(time.Duration(r.n/bystanderRate) * time.Second)
			return ctx.Err()
		})
		return err
	})})
	return []scenario{{"bystander", "postgres", title, []string{colQueries}, systems}}
}

// bystood measures with bystanders at work. What they do counts while the queue is measured; what is spent is spent by both.
func bystood(m measurement) measurement {
	return func(ctx context.Context, r *run) error {
		pool, err := r.server.pool(ctx, bystanders)
		if err != nil {
			return err
		}
		defer pool.Close()
		const table = `CREATE TABLE pawl_bench.account AS SELECT id, 0::bigint AS balance FROM generate_series(1, 100000) id; ALTER TABLE pawl_bench.account ADD PRIMARY KEY (id)`
		if _, err := pool.Exec(ctx, table, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		working, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		var updates [bystanders][]moments
		for i := range updates {
			all.Go(func() { updates[i] = update(working, pool) })
		}
		err = m(ctx, r)
		stop()
		all.Wait()
		if err != nil {
			return err
		}
		var took []float64
		for _, u := range slices.Concat(updates[:]...) {
			if u.called.After(r.from) && u.returned.Before(r.to) {
				took = append(took, milliseconds(u.returned.Sub(u.called)))
			}
		}
		if len(took) == 0 {
			return errors.New("no query of the bystanders went through")
		}
		r.rate(colQueries, len(took), r.to.Sub(r.from))
		r.figures[colQuery99] = quantile(took, 0.99)
		return nil
	}
}

// update changes rows until ctx ends.
func update(ctx context.Context, pool *pgxpool.Pool) (all []moments) {
	for ctx.Err() == nil {
		start := time.Now()
		if _, err := pool.Exec(ctx, `UPDATE pawl_bench.account SET balance = balance + 1 WHERE id = $1`, 1+rand.IntN(100_000)); err == nil {
			all = append(all, moments{called: start, returned: time.Now()})
		}
	}
	return all
}
