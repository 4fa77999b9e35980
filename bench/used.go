package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/throttle"
)

// Scenario R: how much of a limit is used while there is work: the time of all handlers, of what
// the limit allows in the time that the work took.

const (
	// limitOf is the concurrency limit, far below what the processes could do.
	limitOf = 5
	// limitedProcesses is how many processes share it.
	limitedProcesses = 8
	// limitedFor is how long the work takes if all of the limit is used.
	limitedFor = 6 * time.Second
	// limitedWarm is how many messages go through before, of a topic of their own: a new process has
	// connections without plans.
	limitedWarm = 60
)

// warmTopic is the topic of what goes through before.
const warmTopic = "topic-1"

func utilizations(n int) []scenario {
	title := fmt.Sprintf("a topic with a concurrency limit of %d, handled by %d processes; handlers take half to one and a half times as long as the row says", limitOf, limitedProcesses)
	var all []scenario
	for _, e := range places() {
		s := scenario{"R", e.engine, title, nil, nil}
		for _, sleep := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
			most := int(limitOf * limitedFor / sleep)
			s.systems = append(s.systems, system{sleep.String(), max(most*n/60_000, 20), underLimit(e.open, sleep)})
		}
		all = append(all, s)
	}
	return all
}

// underLimit measures handlers that take sleep on average.
func underLimit(open opener, sleep time.Duration) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *parts.Outbox) error {
		for _, name := range topics()[:2] {
			if _, err := throttle.New(db, nil).Set(ctx, throttle.Topic, name, throttle.Bounds{Concurrency: limitOf}, ""); err != nil {
				return err
			}
		}
		var all workers
		defer all.stop()
		for range limitedProcesses {
			if err := all.start(ctx, r.place(), sleep); err != nil {
				return err
			}
		}
		phase := func(n, total int, name string) error {
			batch := messages(n)
			for i := range batch {
				batch[i].Topic = name
			}
			_, err := o.EnqueueBatch(ctx, batch)
			return errors.Join(err, allDone(ctx, o, total))
		}
		if err := errors.Join(all.release(), phase(limitedWarm, limitedWarm, warmTopic)); err != nil {
			return err
		}
		r.written, r.processes = limitedWarm+r.n, true
		took, err := r.measured(ctx, r.n, func() error { return phase(r.n, r.written, topic(0)) })
		if err != nil {
			return err
		}
		delete(r.figures, colAllocs) // this process has only waited
		handled, busy := all.stop()
		r.rate(colRate, r.n, took)
		r.figures[colUsed] = 100 * busy.Seconds() / (limitOf * took.Seconds())
		return exactly(r.written, handled, handled)
	})
}

// allDone returns when n messages are done.
func allDone(ctx context.Context, o *parts.Outbox, n int) error {
	last, since := int64(0), time.Now()
	for {
		c, err := o.Count(ctx)
		if err != nil || c.Done == int64(n) {
			return err
		}
		if c.Done != last {
			last, since = c.Done, time.Now()
		}
		if time.Since(since) > stall {
			return fmt.Errorf("%w: stalled: of %d messages %d done", errLost, n, c.Done)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
