package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/metrics"
)

// depthEvery is how often the database is asked, as the benchmark's other adapters do.
const depthEvery = 200 * time.Millisecond

// countedRuns bounds how many batches are counted: more than wait here.
const countedRuns = 200_000

// depth follows how many jobs lie in the database, by pawl's metrics.
type depth struct {
	registry *prometheus.Registry
	stats    *stats
	last     atomic.Pointer[counts]
}

// counts are jobs by state, and how many this process had enqueued and completed when they were counted.
type counts struct {
	ready, running, retrying, scheduled, total float64
	enqueued, completed                        int64
}

func newDepth(p *pawl.Pawl, st *stats) (*depth, error) {
	collector, err := metrics.New(p, metrics.Options{MinInterval: depthEvery / 2, Runs: countedRuns, Messages: 1})
	if err != nil {
		return nil, err
	}
	d := &depth{registry: prometheus.NewRegistry(), stats: st}
	d.last.Store(&counts{})
	return d, d.registry.Register(collector)
}

// get returns what was counted last: while the database does not answer, what was true before.
func (d *depth) get() *counts { return d.last.Load() }

// follow counts until ctx ends.
func (d *depth) follow(ctx context.Context) {
	tick := time.NewTicker(depthEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.read()
		}
	}
}

// read counts once.
func (d *depth) read() {
	c := counts{enqueued: d.stats.enqueued.Load(), completed: d.stats.completed.Load()}
	families, err := d.registry.Gather()
	if err != nil {
		return
	}
	states := map[string]*float64{"ready": &c.ready, "in_flight": &c.running, "retrying": &c.retrying, "scheduled": &c.scheduled}
	answered := false
	for _, f := range families {
		for _, m := range f.Metric {
			switch f.GetName() {
			case "pawl_store_up":
				answered = m.Gauge.GetValue() == 1
			case "pawl_messages":
				for _, l := range m.Label {
					if n := states[l.GetValue()]; l.GetName() == "state" && n != nil {
						*n += m.Gauge.GetValue()
						c.total += m.Gauge.GetValue()
					}
				}
			}
		}
	}
	if answered {
		d.last.Store(&c)
	}
}
