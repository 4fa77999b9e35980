package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/traces"
)

// Scenario Z: what it costs to be watched: a backlog of 100 000 messages, if n is not
// changed, written and drained with metrics, with traces besides, and without either.

// scrapeEvery is how often somebody asks for the metrics, as Prometheus does by
// default. A drain is shorter: asked every second, each would pay for a scrape that in
// life 15 s pay for together, 16 to 32 ms of one core and the server.
const scrapeEvery = 15 * time.Second

// sampled is the part of all traces that is recorded.
const sampled = 0.01

// watcher puts something on a pawl that watches it, until stop.
type watcher func(p *pawl.Pawl) (stop func(), err error)

// watchers are what is compared. The last is the floor: nobody watches.
func watchers() []struct {
	name  string
	watch watcher
} {
	return []struct {
		name  string
		watch watcher
	}{
		{"metrics", withMetrics},
		{"both", withBoth},
		{"both, by sampler", withSampler},
		{"nobody watches", unwatched},
	}
}

func watchedCycles(n int) []scenario {
	const title = "100 000 messages in batches of 1000 by 2 producers, then drain with handlers, watched and not"
	n = max(10*timerBatch, n*100_000/60_000/timerBatch*timerBatch)
	var all []scenario
	for _, e := range places() {
		s := scenario{"Z", e.engine, title, []string{colDrain, colRate, colClient}, nil}
		for _, w := range watchers() {
			s.systems = append(s.systems, system{w.name, n, watched(e.open, w.watch)})
		}
		all = append(all, s)
	}
	return all
}

func unwatched(*pawl.Pawl) (func(), error) { return func() {}, nil }

// withMetrics registers the metrics, and scrapes them.
func withMetrics(p *pawl.Pawl) (func(), error) {
	m, err := metrics.New(p, metrics.Options{})
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(m); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(scrapeEvery):
				_, _ = registry.Gather()
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}, nil
}

// withBoth also has spans made: of one attempt in a hundred, as is usual, exported to
// nowhere.
func withBoth(p *pawl.Pawl) (func(), error) {
	if err := traces.Instrument(p, traces.Options{TracerProvider: sdktrace.NewTracerProvider(), Untraced: sampled}); err != nil {
		return nil, err
	}
	return withMetrics(p)
}

// withSampler leaves it to the provider to thin them out, which makes every one first.
func withSampler(p *pawl.Pawl) (func(), error) {
	provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.TraceIDRatioBased(sampled)))
	if err := traces.Instrument(p, traces.Options{TracerProvider: provider}); err != nil {
		return nil, err
	}
	return withMetrics(p)
}

// watched measures two phases, as scenario A does.
func watched(open opener, watch watcher) func(context.Context, *run) error {
	return withPawl(open, func(ctx context.Context, r *run, db engine.DB, p *pawl.Pawl) error {
		stop, err := watch(p)
		if err != nil {
			return err
		}
		defer stop()
		return cycle(ctx, r,
			func(n int) error { return enqueueBatches(ctx, p, n) },
			func(n int) error {
				worker, err := newPawl(db, true)
				if err != nil {
					return err
				}
				stop, err := watch(worker)
				if err != nil {
					return err
				}
				defer stop()
				return drainOf(ctx, worker, n)
			})
	})
}

// drainOf handles everything there is with handlers that do nothing.
func drainOf(ctx context.Context, p *pawl.Pawl, n int) error {
	var handled atomic.Int64
	for _, topic := range topics() {
		p.Handle(topic, func(context.Context, *outbox.Message) error {
			handled.Add(1)
			return nil
		})
	}
	return errors.Join(p.Run(ctx), exactly(n, handled.Load(), p.Internal(access.Key{}).Stats().Acked))
}
