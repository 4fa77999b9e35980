package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Scenario B: producers and a worker at once, with a bounded backlog.

const outstanding = 20_000

func steadies(n int) []scenario {
	const title = "producers and a worker at once, at most 20 000 outstanding"
	return []scenario{
		{"B", "postgres", title, []string{colRate}, versus("postgres", n, steadyQueue,
			system{"bare layout", n, steadyFloor(newBarePostgres)},
			system{"insert + delete", n, steadyFloor(newDeletingPostgres)},
		)},
		{"B", "sqlite", title + ", synchronous=FULL", []string{colRate}, versus("sqlite", n, steadyQueue,
			system{"insert + select + delete", n, steadyFloor(newPlainSQLite(false))},
		)},
	}
}

// window lets producers go on while less than so many messages are under way.
type window struct {
	room    chan struct{}
	handled int64
}

func newWindow() *window { return &window{room: make(chan struct{}, outstanding/batchSize)} }

func steadyQueue(open queueOpener) measurement {
	return func(ctx context.Context, r *run) error {
		w := newWindow()
		var handled atomic.Int64
		var last atomic.Int64 // when the last quarter began, in nanoseconds since 1970
		leave := func(int64) {
			n := handled.Add(1)
			if n%batchSize == 0 {
				<-w.room
			}
			if n == int64(r.warm()+r.n-r.n/4) {
				last.Store(time.Now().UnixNano())
			}
		}
		t, err := newTrial(ctx, r, open, r.warm()+r.n, leave)
		if err != nil {
			return err
		}
		defer t.Close()
		return beside(ctx, r, t, func(n, total int) error {
			err := both(func() error { return t.fill(ctx, n, w.room) }, func() error { return t.await(ctx, total) })
			if began := last.Load(); began > 0 {
				r.rate(colLast, r.n/4, time.Since(time.Unix(0, began)))
				r.figures[colMemory] = residentMB()
			}
			return err
		})
	}
}

// beside measures flow, which enqueues n messages and awaits total, while the queue runs.
func beside(ctx context.Context, r *run, t *trial, flow func(n, total int) error) error {
	stop := t.start(ctx)
	defer stop()
	if err := flow(r.warm(), r.warm()); err != nil {
		return err
	}
	r.written = r.warm() + r.n
	took, err := r.measured(ctx, r.n, func() error { return flow(r.n, r.written) })
	if err != nil {
		return err
	}
	r.rate(colRate, r.n, took)
	return errors.Join(stop(), t.audit(r, r.written))
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
