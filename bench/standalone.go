package main

import (
	"context"
	"fmt"
)

// Scenario D: many callers enqueue one message each in no transaction of their
// own. pawl lets calls that come at the same time share one (group commit).

// connections is how many PostgreSQL connections the floor may use at most.
const connections = 64

func standalones(n int) (all []scenario) {
	for _, callers := range []int{64, 256} {
		title := fmt.Sprintf("%d concurrent standalone Enqueue calls", callers)
		pool := min(callers, connections)
		measure := func(open queueOpener) measurement { return standaloneQueue(open, callers) }
		peered := func(engine string, floor system) []system {
			systems := versus(engine, n, measure, floor)
			for i := range systems { // a peer that handles slowly may enqueue quickly
				systems[i].n = max(systems[i].n, n/60)
			}
			return systems
		}
		all = append(all,
			scenario{"D", "postgres", title, []string{colRate}, peered("postgres",
				system{"autocommit insert", n / 4, standaloneFloor(newPlainPostgres(pool), callers)},
			)},
			scenario{"D", "sqlite", title + ", synchronous=FULL", []string{colRate}, peered("sqlite",
				system{"autocommit insert", n / 12, standaloneFloor(newPlainSQLite(false), callers)},
			)})
	}
	return all
}

// standaloneQueue enqueues only: nothing is handled.
func standaloneQueue(open queueOpener, callers int) measurement {
	return func(ctx context.Context, r *run) error {
		t, err := newTrial(ctx, r, open, 0, nil)
		if err != nil {
			return err
		}
		defer t.Close()
		enqueue := func(int) error { return t.Enqueue(ctx, t.numbers.take(1)) }
		return only(ctx, r, func(n int) error { return parallel(callers, n, enqueue) })
	}
}

func standaloneFloor(build maker, callers int) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		f, err := build(ctx, r)
		if err != nil {
			return err
		}
		defer f.close()
		var s ids
		insert := func(int) error { return f.insert(ctx, s.take(1)) }
		return only(ctx, r, func(n int) error { return parallel(callers, n, insert) })
	}
}
