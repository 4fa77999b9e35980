// Package metrics shows pawl to Prometheus: what it does as counters and
// histograms, what lies in the database as gauges.
//
//	m, err := metrics.New(p, metrics.Options{})
//	prometheus.MustRegister(m)
//	http.Handle("/metrics", promhttp.Handler())
//
// What happens is counted while it happens, at the cost of some hundred nanoseconds
// a message and nothing in the database. What lies in the database is read when
// somebody asks, at most every few seconds, by looks whose cost does not grow with
// its tables, and no longer than a scrape may wait. See docs/metrics.md for all
// metrics.
package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// Options configure a collector. The zero value is right for most programs.
type Options struct {
	// MaxTopics bounds how many topics are told apart, default 200. Those that come
	// later are counted together under Other. The same holds for the rest: MaxQueues,
	// MaxJobs and MaxLeases are 100, MaxStores of a fleet is 100.
	MaxTopics, MaxQueues, MaxJobs, MaxLeases, MaxStores int
	// MinInterval is how long what was read from a database stands, default 15 s:
	// however often somebody asks, it is read no more often.
	MinInterval time.Duration
	// Timeout bounds how long somebody who asks waits for databases, default 2 s.
	Timeout time.Duration
	// Runs and Messages bound how much of a database is looked at, default 10 000
	// each: so many runs (messages that were written together) are counted, and so
	// many messages are sorted by topic. Joins and timers are counted up to Runs.
	Runs, Messages int
	// HandlerBuckets and WaitBuckets are the upper bounds of the histograms' buckets,
	// in seconds; the defaults go from 1 ms to 5 min and from 5 ms to an hour.
	HandlerBuckets, WaitBuckets []float64
}

// maxLanes is how many queues with their priorities are looked at.
const maxLanes = 500

// validate refuses what cannot be; the error names the field.
func (o *Options) validate() error {
	return cmp.Or(
		engine.CheckOption("MaxTopics", o.MaxTopics, 1, 0), engine.CheckOption("MaxQueues", o.MaxQueues, 1, 0), engine.CheckOption("MaxJobs", o.MaxJobs, 1, 0),
		engine.CheckOption("MaxLeases", o.MaxLeases, 1, 0), engine.CheckOption("MaxStores", o.MaxStores, 1, 0),
		engine.CheckOption("MinInterval", o.MinInterval, 1, 0), engine.CheckOption("Timeout", o.Timeout, 1, 0),
		engine.CheckOption("Runs", o.Runs, 1, 0), engine.CheckOption("Messages", o.Messages, 1, 0),
		checkBuckets("HandlerBuckets", o.HandlerBuckets), checkBuckets("WaitBuckets", o.WaitBuckets),
	)
}

// checkBuckets refuses what a histogram would panic at.
func checkBuckets(field string, bounds []float64) error {
	for i, b := range bounds {
		if math.IsNaN(b) || i > 0 && b <= bounds[i-1] {
			return engine.Invalid(field, "not in ascending order")
		}
	}
	return nil
}

func (o *Options) defaults() {
	set(&o.MaxTopics, 200)
	set(&o.MaxQueues, 100)
	set(&o.MaxJobs, 100)
	set(&o.MaxLeases, 100)
	set(&o.MaxStores, 100)
	set(&o.MinInterval, 15*time.Second)
	set(&o.Timeout, 2*time.Second)
	set(&o.Runs, 10_000)
	set(&o.Messages, 10_000)
	if o.HandlerBuckets == nil {
		o.HandlerBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	}
	if o.WaitBuckets == nil {
		o.WaitBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	}
}

func set[T int | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Collector is all metrics of a pawl.Pawl or a fleet. It is a prometheus.Collector,
// and safe for concurrent use.
type Collector struct {
	opts      Options
	catalogue catalogue
	counted   counted
	told      told

	topics, queues, jobs, leases, labels names // labels: of stores

	lateJobs, lateMessages prometheus.Observer

	fleet *fleet.Fleet // nil: a single database

	mu     sync.Mutex
	stores map[string]*store // by key
	reads  reads
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns the metrics of a database. It counts what happens from now on: call it
// before Run, and once.
func New(p *pawl.Pawl, opts Options) (*Collector, error) {
	if p == nil {
		return nil, errors.New("metrics: no pawl.Pawl")
	}
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("metrics: options: %w", err)
	}
	c := build(false, opts)
	c.watch("", p)
	return c, nil
}

// NewFleet returns the metrics of a fleet, by store. Call it before the fleet is
// used, and once.
func NewFleet(f *fleet.Fleet, opts Options) (*Collector, error) {
	if f == nil {
		return nil, errors.New("metrics: no fleet")
	}
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("metrics: options: %w", err)
	}
	c := build(true, opts)
	c.fleet = f
	f.Setup(func(s *fleet.Store) { c.watch(s.Key, s.Pawl) })
	return c, nil
}

func build(stores bool, opts Options) *Collector {
	opts.defaults()
	c := &Collector{opts: opts, catalogue: catalogue{stores: stores}, stores: map[string]*store{}}
	c.counted, c.told = c.catalogue.counted(&c.opts), c.catalogue.told()
	c.topics.max, c.queues.max, c.jobs.max, c.leases.max, c.labels.max = opts.MaxTopics, opts.MaxQueues, opts.MaxJobs, opts.MaxLeases, opts.MaxStores
	c.lateJobs, c.lateMessages = c.counted.late.WithLabelValues("job"), c.counted.late.WithLabelValues("message")
	return c
}

// watch counts what happens in a store.
func (c *Collector) watch(key string, p *pawl.Pawl) {
	label := key
	if c.fleet != nil {
		label = c.labels.label(key)
	}
	o := &observer{c: c, store: label}
	p.Internal(access.Key{}).Observe(&worker.Observer{
		Enqueued: o.enqueued, Claimed: o.claimed, Attempted: o.attempted, Reaped: o.reaped,
		TimersFired: o.fired, RunsCreated: o.made, JoinsRepaired: o.repaired, LeaseAcquired: o.acquired, LeaseEnded: o.ended, Step: o.step,
	})
	o.fired(0)
	o.made(0)
	o.repaired(0, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stores[key] = &store{key: key, label: label, p: p}
}

// Describe is of prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) { c.catalogue.describe(ch) }

// Collect is of prometheus.Collector. It returns in time, whatever the databases do.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	out := sink{c: c, ch: ch}
	all := c.present()
	c.reads.refresh(c, all)
	for _, s := range all {
		s.collect(out)
	}
	if c.fleet != nil {
		c.collectFleet(out)
	} else {
		for _, s := range all {
			s.collectPool(out)
		}
	}
	version, goversion := versions()
	out.send(c.told.build, 1, version, goversion)
	for _, v := range c.catalogue.vecs {
		v.Collect(ch)
	}
}

// sink is where metrics go.
type sink struct {
	c  *Collector
	ch chan<- prometheus.Metric
}

func (s sink) send(f *family, v float64, labels ...string) {
	kind := prometheus.GaugeValue
	if f.kind == "counter" {
		kind = prometheus.CounterValue
	}
	s.ch <- prometheus.MustNewConstMetric(f.desc, kind, v, labels...)
}

// versions are those of pawl and Go, as far as the program knows them.
func versions() (pawl, golang string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "unknown"
	}
	const module = "github.com/bravellian/pawl"
	if info.Main.Path == module {
		return info.Main.Version, info.GoVersion
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version, info.GoVersion
		}
	}
	return "unknown", info.GoVersion
}
