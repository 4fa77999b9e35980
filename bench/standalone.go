package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/outbox"
)

// Scenario D: many callers enqueue one message each in no transaction of their
// own. pawl lets calls that come at the same time share one (group commit).

// connections is how many PostgreSQL connections the floor may use at most.
const connections = 64

func standalones(n int) (all []scenario) {
	for _, callers := range []int{64, 256} {
		title := fmt.Sprintf("%d concurrent standalone Enqueue calls", callers)
		pool := min(callers, connections)
		all = append(all,
			scenario{"D", "postgres", title, []string{colRate}, []system{
				{"pawl", n, standalonePawl(openPostgres, callers)},
				{"autocommit insert", n / 4, standaloneFloor(newPlainPostgres(pool), callers)},
			}},
			scenario{"D", "sqlite", title + ", synchronous=FULL", []string{colRate}, []system{
				{"pawl", n, standalonePawl(openSQLite(false), callers)},
				{"autocommit insert", n / 12, standaloneFloor(newPlainSQLite(false), callers)},
			}})
	}
	return all
}

func standalonePawl(open opener, callers int) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		db, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		o := outbox.New(db, outbox.Options{})
		m := messages(1)[0]
		enqueue := func(int) error {
			_, err := o.Enqueue(ctx, m)
			return err
		}
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
