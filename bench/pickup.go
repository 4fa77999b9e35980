package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// Scenario G: how long a message waits for an idle worker.

const (
	perSecond = 40
	// seconds of one repetition.
	seconds = 4
)

func pickups(n int) []scenario {
	const title = "40 messages a second, from the call of Enqueue to the handler's start"
	count := max(10, min(n, 60_000)*perSecond*seconds/60_000)
	var all []scenario
	for _, e := range []struct {
		engine string
		open   opener
	}{{"postgres", openPostgres}, {"sqlite", openSQLite(false)}} {
		all = append(all, scenario{"G", e.engine, title, nil, []system{
			{"pawl", count, pickup(e.open, false)},
			{"pawl, another handle enqueues", count, pickup(e.open, true)},
		}})
	}
	return all
}

// moments are one message's times.
type moments struct{ called, returned, started time.Time }

// pickup measures with the producer in the worker's own process and handle, or
// with a handle of its own, so that wake-ups have to go through the database.
func pickup(open opener, apart bool) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		var mu sync.Mutex
		times := make([]moments, r.n)
		register := func(db engine.DB, worker *outbox.Outbox) { worker.Handle("tick", starts(&mu, times)) }
		err := r.idle(ctx, open, apart, register, func(ctx context.Context, _ engine.DB, from *outbox.Outbox) error {
			return tick(ctx, from, &mu, times)
		})
		if err != nil {
			return err
		}
		return r.latencies(times, colCommit, colP50)
	}
}

// starts notes when the handler of the message whose payload is its number begins.
func starts(mu *sync.Mutex, times []moments) outbox.Handler {
	return outbox.HandlerFunc(func(_ context.Context, m *outbox.Message) error {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		times[binary.BigEndian.Uint64(m.Payload)].started = now
		return nil
	})
}

// idle measures work beside a worker that has nothing else to do, in the
// worker's own handle or, apart, in another.
func (r *run) idle(ctx context.Context, open opener, apart bool, register func(engine.DB, *outbox.Outbox), work func(context.Context, engine.DB, *outbox.Outbox) error) error {
	db, done, err := open(ctx, r)
	if err != nil {
		return err
	}
	defer done()
	worker := outbox.New(db, outbox.Options{})
	from, producer := db, worker
	if apart {
		other, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		from, producer = other, outbox.New(other, outbox.Options{})
	}
	r.written = r.n
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	register(db, worker)
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	time.Sleep(time.Second) // until it listens and sleeps
	if _, err := r.measured(ctx, r.n, func() error { return work(ctx, from, producer) }); err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond)
	stop()
	return <-ended
}

// tick enqueues at random moments: a Poisson process.
func tick(ctx context.Context, o *outbox.Outbox, mu *sync.Mutex, times []moments) error {
	body := payload()
	next := time.Now()
	for i := range times {
		next = next.Add(time.Duration(rand.ExpFloat64() / perSecond * float64(time.Second)))
		time.Sleep(time.Until(next))
		binary.BigEndian.PutUint64(body, uint64(i))
		called := time.Now()
		if _, err := o.Enqueue(ctx, outbox.Message{Topic: "tick", Payload: slices.Clone(body)}); err != nil {
			return err
		}
		mu.Lock()
		times[i].called, times[i].returned = called, time.Now()
		mu.Unlock()
	}
	return nil
}

// latencies records how long the call took and how long after it the handler
// began, in columns of these names.
func (r *run) latencies(times []moments, call, median string) error {
	var commit, whole, after []float64
	for i, t := range times {
		if t.started.IsZero() {
			return fmt.Errorf("message %d of %d was not handled", i, len(times))
		}
		commit = append(commit, milliseconds(t.returned.Sub(t.called)))
		whole = append(whole, milliseconds(t.started.Sub(t.called)))
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
