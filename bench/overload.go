package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Scenario overload: more messages come than can be handled, and then half of the peak. What is handled meanwhile, how long
// it takes until nothing waits, and whether all is as before then.

const (
	// overSeconds is how long too many come, with -n 60000.
	overSeconds = 10
	overShare   = 3 // of the peak, which is of a bounded backlog: no more can come
	underShare  = 0.5
	// underSeconds is how long the waits before and after are measured.
	underSeconds = 5
	// overProducers enqueue as fast as they can.
	overProducers = 8
	// patience is how many times as long as the overload recovery may take.
	patience = 4
)

func overloads(n int) []scenario {
	const title = "8 producers enqueue batches of 100 as fast as they can, then 50 % of the peak (B) comes until nothing waits: from commit to the handler's start, at 50 % before and after"
	var all []scenario
	for _, e := range places() {
		s := scenario{"overload", e.engine, title, nil, nil}
		for _, q := range mainQueues(e.engine) {
			s.systems = append(s.systems, ofPeak(q, max(n/q.divisor, batchSize)/batchSize*batchSize, steadyQueue, func(peak float64) []system {
				return []system{{"overload", 0, overload(q.open, peak, overSeconds*float64(n)/60_000)}}
			})...)
		}
		all = append(all, s)
	}
	return all
}

// arrivals are messages that come in batches at a rate.
type arrivals struct {
	*trial
	times []moments
	come  atomic.Int64
}

func overload(open queueOpener, peak, long float64) measurement {
	return func(ctx context.Context, r *run) error {
		t, times, err := newTimedTrial(ctx, r, open, int(peak*(2*underSeconds*underShare+long*(overShare+patience*underShare))))
		if err != nil {
			return err
		}
		defer t.Close()
		a := &arrivals{trial: t, times: times}
		stop := t.start(ctx)
		defer stop()
		if err := a.at(ctx, underShare*peak, underSeconds, nil); err != nil {
			return err
		}
		if err := t.await(ctx, int(a.come.Load())); err != nil {
			return err
		}
		before := a.times[a.come.Load()/warmShare : a.come.Load()]
		if err := a.tooMany(ctx, r, peak, long); err != nil {
			return err
		}
		from := a.come.Load()
		if err := errors.Join(a.at(ctx, underShare*peak, underSeconds, nil), t.await(ctx, int(a.come.Load()))); err != nil {
			return err
		}
		r.fromCommit(a.times[from:a.come.Load()])
		r.figures[colLast50], r.figures[colLast99] = r.figures[colPlainP50], r.figures[colP99]
		r.fromCommit(before)
		r.written = int(a.come.Load())
		return errors.Join(stop(), t.audit(r, r.written))
	}
}

// tooMany measures the overload and what comes until it is over.
func (a *arrivals) tooMany(ctx context.Context, r *run, peak, long float64) error {
	began, handled := a.come.Load(), a.handled.Load()
	took, err := r.counted(ctx, func() (int, error) {
		end := time.Now().Add(time.Duration(long * float64(time.Second)))
		err := a.enqueue(ctx, int(overShare*peak*long/batchSize), 0, func() bool { return time.Now().After(end) })
		return int(a.come.Load() - began), err
	})
	if err != nil {
		return err
	}
	r.rate(colRate, int(a.handled.Load()-handled), took)
	r.rate(colEnqueue, int(a.come.Load()-began), took)
	r.figures[colOfPeak] = 100 * r.figures[colRate] / peak
	r.figures[colBacklog] = float64(a.come.Load() - a.handled.Load())
	start := time.Now()
	over := func() bool { return a.come.Load()-a.handled.Load() < int64(peak/10) }
	if err := a.at(ctx, underShare*peak, patience*long, over); err != nil {
		return err
	}
	if over() {
		r.figures[colRecovery] = time.Since(start).Seconds()
	}
	return a.await(ctx, int(a.come.Load()))
}

// at enqueues so many messages a second for so long, or until enough says so.
func (a *arrivals) at(ctx context.Context, rate, seconds float64, enough func() bool) error {
	return a.enqueue(ctx, int(rate*seconds/batchSize), time.Duration(batchSize/rate*float64(time.Second)), enough)
}

// enqueue makes so many calls at least so far apart, until enough says so.
func (a *arrivals) enqueue(ctx context.Context, calls int, every time.Duration, enough func() bool) error {
	start := time.Now()
	var nr atomic.Int64
	return parallel(overProducers, calls, func(int) error {
		if enough != nil && enough() {
			return nil
		}
		due := start.Add(time.Duration(nr.Add(1)) * every)
		time.Sleep(time.Until(due))
		list := a.numbers.take(batchSize)
		err := a.Enqueue(ctx, list)
		now := time.Now()
		for _, id := range list {
			a.times[id-1].called, a.times[id-1].returned = due, now
		}
		a.come.Add(batchSize)
		return err
	})
}
