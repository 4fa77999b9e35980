package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Also scenario V: what a store costs while it is worked on, and when it is idle again.

const (
	// workedFiles and workedServers are how many are worked on at once: not more than have
	// places and handlers by default.
	workedFiles, workedServers = 40, 20
	// heldEach is how many messages of each are being handled meanwhile.
	heldEach = 6
	// afterwards is how many it handles before it is left alone.
	afterwards = 1000
)

func workedFleets(n int) []scenario {
	title := fmt.Sprintf("%d SQLite files or %d databases: idle; %d or %d of them with %d messages in handlers; and idle again after %d more",
		fleetServers, fleetServers, workedFiles, workedServers, heldEach, afterwards)
	return []scenario{{"V", "postgres", title, nil, []system{
		{"files", n, workedFleet(some(fleetServers, 0), some(workedFiles, 0))},
		{"databases", n, workedFleet(some(0, fleetServers), some(0, workedServers))},
	}}}
}

// workedFleet measures the memory of dbs three times: before, while and after busy ones are
// worked on. No more than one stays warm without work.
func workedFleet(all, busy chooser) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		e, err := r.server.ensemble(ctx)
		if err != nil {
			return err
		}
		dbs, worked := all(e), busy(e)
		w := &heldWork{gate: make(chan struct{})}
		before := memoryNow()
		f, end, err := runFleetWith(ctx, dbs, fleet.Options{KeepReady: 1}, func(f *fleet.Fleet) {
			for _, t := range topics() {
				f.Handle(t, w.handle)
			}
		})
		if err != nil {
			return err
		}
		if err := settled(ctx, f, len(dbs)); err != nil {
			return err
		}
		idle := memoryNow()
		if err := w.fill(ctx, worked, heldEach); err != nil {
			return err
		}
		if err := w.until(&w.begun, heldEach*len(worked)); err != nil {
			return err
		}
		held, conns := memoryNow(), f.Operator(access.Key{}).State().Connections
		close(w.gate)
		if err := w.fill(ctx, worked, afterwards); err != nil {
			return err
		}
		if err := w.until(&w.done, (heldEach+afterwards)*len(worked)); err != nil {
			return err
		}
		if err := engine.Sleep(ctx, settling); err != nil {
			return err
		}
		again := memoryNow()
		r.figures[colHeap], r.figures[colGoroutines] = idle.since(before, len(dbs))
		r.figures[colBusyHeap], r.figures[colBusyGoroutines] = held.since(idle, len(worked))
		r.figures[colBusyConnections] = float64(conns) / float64(len(worked))
		r.figures[colAgainHeap], r.figures[colAgainGoroutines] = again.since(idle, len(worked))
		return end()
	}
}

// memory is what this process has.
type memory struct{ heap, goroutines float64 }

func memoryNow() memory { return memory{heap(), float64(runtime.NumGoroutine())} }

// since is what each of n has more than before, in kB and goroutines.
func (m memory) since(before memory, n int) (kB, goroutines float64) {
	return (m.heap - before.heap) / 1000 / float64(n), (m.goroutines - before.goroutines) / float64(n)
}

// heldWork are handlers that do not end before the gate is open.
type heldWork struct {
	gate        chan struct{}
	begun, done atomic.Int64
}

func (w *heldWork) handle(ctx context.Context, _ *outbox.Message) error {
	w.begun.Add(1)
	select {
	case <-w.gate:
		w.done.Add(1)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fill enqueues n messages into each, through a handle of its own, as another program would.
func (w *heldWork) fill(ctx context.Context, dbs []fleet.Database, n int) error {
	for _, d := range dbs {
		db, err := handleOf(d)
		if err != nil {
			return err
		}
		_, err = parts.NewOutbox(db, worker.Options{}).EnqueueBatch(ctx, messages(n))
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (w *heldWork) until(count *atomic.Int64, n int) error {
	for since := time.Now(); count.Load() < int64(n); time.Sleep(10 * time.Millisecond) {
		if time.Since(since) > 4*stall {
			return fmt.Errorf("stalled at %d of %d", count.Load(), n)
		}
	}
	return nil
}
