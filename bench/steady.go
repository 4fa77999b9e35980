package main

import (
	"context"
)

// Scenario B: producers and a worker at once, with a bounded backlog.

const outstanding = 20_000

func steadies(n int) []scenario {
	const title = "producers and a worker at once, at most 20 000 outstanding"
	return []scenario{
		{"B", "postgres", title, []string{colRate}, []system{
			{"pawl", n, steadyPawl(openPostgres)},
			{"bare layout", n, steadyFloor(newBarePostgres)},
			{"insert + delete", n, steadyFloor(newDeletingPostgres)},
		}},
		{"B", "sqlite", title + ", synchronous=FULL", []string{colRate}, []system{
			{"pawl", n, steadyPawl(openSQLite(false))},
			{"insert + select + delete", n, steadyFloor(newPlainSQLite(false))},
		}},
	}
}

// window lets producers go on while less than so many messages are under way.
type window struct {
	room    chan struct{}
	handled int64
}

func newWindow() *window { return &window{room: make(chan struct{}, outstanding/batchSize)} }

func steadyPawl(open opener) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		db, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		w := newWindow()
		c := consume(ctx, db, func(handled int64) {
			if handled%batchSize == 0 {
				<-w.room
			}
		})
		flow := func(n, total int) error {
			return both(func() error { return produce(ctx, c.outbox, n, w.room) }, func() error { return c.await(total) })
		}
		if err := flow(r.warm(), r.warm()); err != nil {
			return err
		}
		r.written = r.warm() + r.n
		took, err := r.measured(ctx, r.n, func() error { return flow(r.n, r.written) })
		if err != nil {
			return err
		}
		r.rate(colRate, r.n, took)
		return c.end(r.written)
	}
}

func steadyFloor(build maker) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		f, err := build(ctx, r)
		if err != nil {
			return err
		}
		defer f.close()
		var s ids
		w := newWindow()
		flow := func(n int) error {
			return both(
				func() error { return fill(ctx, f, &s, n, w.room) },
				func() error {
					return empty(ctx, f, n, func(taken int) {
						before := w.handled / batchSize
						w.handled += int64(taken)
						for range w.handled/batchSize - before {
							<-w.room
						}
					})
				})
		}
		if err := flow(r.warm()); err != nil {
			return err
		}
		r.written = r.warm() + r.n
		took, err := r.measured(ctx, r.n, func() error { return flow(r.n) })
		if err == nil {
			r.rate(colRate, r.n, took)
		}
		return err
	}
}
