package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bravellian/pawl/bench/internal/peers"
)

// Scenario G: how long a message waits for an idle worker.

const (
	perSecond = 40
	// seconds of one repetition.
	seconds = 3
)

func pickups(n int) []scenario {
	const title = "40 messages a second, from the call of Enqueue to the handler's start"
	count := max(10, min(n, 60_000)*perSecond*seconds/60_000)
	var all []scenario
	for _, e := range []struct {
		engine string
		open   queueOpener
	}{{"postgres", pawlPostgres}, {"sqlite", pawlSQLite}} {
		systems := versus(e.engine, count, pickup, system{"pawl, another handle enqueues", count, pickupApart(e.open)})
		for i := range systems {
			systems[i].n = count
		}
		all = append(all, scenario{"G", e.engine, title, nil, systems})
	}
	return all
}

// moments are one message's times.
type moments struct{ called, returned, started time.Time }

// pace is how often messages are enqueued at random moments, and how many in one call.
type pace struct{ perSecond, together int }

// pickup measures with the producer in the worker's own process and handle.
func pickup(open queueOpener) measurement { return pickupFrom(open, nil, pace{perSecond, 1}, ofAll) }

// pickupApart gives the producer a handle of its own, so that wake-ups have to go
// through the database.
func pickupApart(open queueOpener) measurement {
	return pickupFrom(open, open, pace{perSecond, 1}, ofAll)
}

// ofAll are the figures of all messages.
func ofAll(r *run, times []moments) error { return r.latencies(times, colCommit, colP50) }

func pickupFrom(open, producer queueOpener, at pace, report func(*run, []moments) error) measurement {
	return func(ctx context.Context, r *run) error {
		t, times, err := newTimedTrial(ctx, r, open, r.n)
		if err != nil {
			return err
		}
		defer t.Close()
		from := t.Queue
		if producer != nil {
			if from, err = producer(ctx, r); err != nil {
				return err
			}
			defer from.Close()
		}
		r.written = r.n
		stop := t.start(ctx)
		defer stop()
		time.Sleep(time.Second) // until it listens and sleeps
		if _, err := r.measured(ctx, r.n, func() error { return tick(ctx, from, at, times) }); err != nil {
			return err
		}
		if err := errors.Join(t.await(ctx, r.n), stop(), t.audit(r, r.n)); err != nil {
			return err
		}
		return report(r, times)
	}
}

// tick enqueues at random moments: a Poisson process.
func tick(ctx context.Context, q peers.Queue, at pace, times []moments) error {
	var s ids
	next := time.Now()
	for calls := range slices.Chunk(times, at.together) {
		next = next.Add(untilNext(float64(at.perSecond) / float64(at.together)))
		time.Sleep(time.Until(next))
		called := time.Now()
		if err := q.Enqueue(ctx, s.take(len(calls))); err != nil {
			return err
		}
		for i := range calls {
			calls[i].called, calls[i].returned = called, time.Now()
		}
	}
	return nil
}

// untilNext is how long it is to the next of so many random moments a second.
func untilNext(rate float64) time.Duration {
	return time.Duration(rand.ExpFloat64() / rate * float64(time.Second))
}

// latencies records how long the call took and how long after it the handler
// began, in columns of these names.
func (r *run) latencies(times []moments, call, median string) error {
	whole, err := untilBegun(times)
	if err != nil {
		return err
	}
	var commit, after []float64
	for _, t := range times {
		commit = append(commit, milliseconds(t.returned.Sub(t.called)))
		after = append(after, milliseconds(max(0, t.started.Sub(t.returned))))
	}
	r.figures[call] = quantile(commit, 0.5)
	r.figures[median] = quantile(whole, 0.5)
	r.figures[colP90] = quantile(whole, 0.9)
	r.figures[colP99] = quantile(whole, 0.99)
	r.figures[colAfter] = quantile(after, 0.5)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func quantile(values []float64, q float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[min(int(q*float64(len(values))), len(values)-1)]
}
