package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/timer"
)

// Scenario U: what timers cost that are all due at once, beside plain messages:
// 100 000 of each if n is not changed.

// timerBatch is timers, or messages, per call in scenario U.
const timerBatch = 1000

func backlogs(n int) []scenario {
	const title = "100 000 timers due at the same moment, scheduled and drained, beside as many messages"
	n = max(10*timerBatch, n*100_000/60_000/timerBatch*timerBatch)
	var all []scenario
	for _, e := range places() {
		for _, goesOn := range []bool{false, true} {
			how := ", by a Run that stops when empty"
			if goesOn {
				how = ", by a Run that goes on"
			}
			all = append(all, scenario{"U", e.engine, title + how, []string{colDue, colRate}, []system{
				{"timers", n, backlog(e.open, scheduleBatches, true, goesOn)},
				{"messages", n, backlog(e.open, enqueueBatches, false, goesOn)},
			}})
		}
	}
	return all
}

// filler writes n of something that is due already.
type filler func(ctx context.Context, p *pawl.Pawl, n int) error

func scheduleBatches(ctx context.Context, p *pawl.Pawl, n int) error {
	due := time.Now().Add(-time.Hour)
	batch := make([]timer.Timer, timerBatch)
	for i, m := range messages(timerBatch) {
		batch[i] = timer.Timer{Topic: m.Topic, Payload: m.Payload, Due: due}
	}
	return parallel(producers, n/timerBatch, func(int) error {
		_, err := p.Timers.ScheduleBatch(ctx, batch)
		return err
	})
}

func enqueueBatches(ctx context.Context, p *pawl.Pawl, n int) error {
	batch := messages(timerBatch)
	return parallel(producers, n/timerBatch, func(int) error {
		_, err := p.Outbox.EnqueueBatch(ctx, batch)
		return err
	})
}

// backlog measures two phases, as scenario A does. due: the figure "from due on"
// leaves out the first, since timers are written before they are due. goesOn: Run
// does not stop when empty, so that the scheduler moves timers while the workers
// handle what it has moved.
func backlog(open opener, fill filler, due, goesOn bool) func(context.Context, *run) error {
	return withPawl(open, func(ctx context.Context, r *run, db engine.DB, p *pawl.Pawl) error {
		err := cycle(ctx, r,
			func(n int) error { return fill(ctx, p, n) },
			func(n int) error { return drainPawl(ctx, db, n, goesOn) })
		if err != nil {
			return err
		}
		r.figures[colDue] = r.figures[colRate]
		if due {
			r.figures[colDue] = r.figures[colDrain]
		}
		return nil
	})
}

// drainPawl is drain with all of pawl.
func drainPawl(ctx context.Context, db engine.DB, n int, goesOn bool) error {
	p, err := newPawl(db, !goesOn)
	if err != nil {
		return err
	}
	var handled atomic.Int64
	handle(p, func() { handled.Add(1) })
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	if goesOn {
		err = acked(p.Internal(access.Key{}).Stats, n)
		stop()
	}
	return errors.Join(err, <-ended, exactly(n, handled.Load(), p.Internal(access.Key{}).Stats().Acked))
}
