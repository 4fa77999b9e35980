package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// simulation is a fleet of stores without databases, worked on by the real schedule while
// the clock of a synctest bubble passes. Its seed decides when messages come and how long
// handlers take; the order of what happens at one moment is the scheduler's of Go.
type simulation struct {
	seed            uint64
	stores          int
	files           bool
	hot, warm, sick int           // stores; those that remain are cold
	hung            int           // all on one server
	routed          float64       // messages a second that this process enqueues into cold stores
	settled         bool          // the stores were polled for hours; otherwise they are new
	outage          time.Duration // from the beginning on, of all stores
	warmUp, length  time.Duration
	opts            Options
}

// outcome is what a simulation showed.
type outcome struct {
	*fakeWork
	pollRate    float64  // polls a second
	turnsBySlot []uint32 // of hot stores
	perStore    float64  // bytes
	real        time.Duration
}

// run runs a simulation in a bubble of its own.
func (sim simulation) run(t *testing.T) (o outcome) {
	t.Helper()
	began := time.Now()
	synctest.Test(t, func(t *testing.T) { o = sim.inBubble(t) })
	o.real = time.Since(began)
	return o
}

func (sim simulation) databases() []Database {
	url := "postgres://db.example/app"
	if sim.files {
		url = "sqlite:app.db"
	}
	dbs := make([]Database, sim.stores)
	for i := range dbs {
		dbs[i] = Database{Key: fmt.Sprintf("%07d", i), URL: url}
	}
	for i, at := range sim.places() {
		if sim.isHung(i) {
			dbs[at].URL = "postgres://silent.example/app"
		}
	}
	return dbs
}

// places are where stores lie among the keys, the busy ones first.
func (sim simulation) places() []int { return rand.New(rand.NewPCG(sim.seed, 0)).Perm(sim.stores) }

// isHung reports whether a store is one of those on the server that hangs.
func (sim simulation) isHung(i int) bool {
	others := sim.hot + sim.warm + sim.sick
	return others <= i && i < others+sim.hung
}

func noEngine(engine.OpenOptions) (engine.DB, error) { return nil, engine.ErrUnreachable }

func (sim simulation) inBubble(t *testing.T) outcome {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts := sim.opts
	opts.Engines = map[string]Opener{"postgres": noEngine, "sqlite": noEngine}
	opts.Pawl.Logger = slog.New(slog.DiscardHandler)
	dbs := sim.databases()
	before := heapInUse()
	f, err := New(DiscoveryFunc(func(context.Context) ([]Database, error) { return dbs, nil }), opts)
	if err != nil {
		t.Fatal(err)
	}
	w := sim.fake(f)
	w.ctx = ctx
	if err := f.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(sim.seed, 1))
	if sim.settled {
		sim.settle(f, w, rng)
	}
	o := outcome{fakeWork: w}
	var running sync.WaitGroup
	running.Go(func() { _ = f.Run(ctx) })
	running.Go(func() { sim.route(ctx, f, w, rng) })
	time.Sleep(sim.warmUp)
	o.perStore = (heapInUse() - before) / float64(sim.stores)
	for i := range w.delays {
		w.delays[i].reset()
	}
	for i := range w.stores {
		w.stores[i].mu.Lock()
		w.stores[i].turns = 0
		w.stores[i].mu.Unlock()
	}
	polls := w.polls.Load()
	time.Sleep(sim.length)
	o.pollRate = float64(w.polls.Load()-polls) / sim.length.Seconds()
	cancel()
	running.Wait()
	for i := range w.stores {
		if w.stores[i].class == hot {
			o.turnsBySlot = append(o.turnsBySlot, w.stores[i].turns)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	return o
}

// heapInUse returns the bytes that are in use.
func heapInUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// fake has the databases of a fleet replaced.
func (sim simulation) fake(f *Fleet) *fakeWork {
	w := &fakeWork{f: f, began: time.Now(), outage: int64(sim.outage), costs: serverCosts, stores: make([]fakeStore, sim.stores)}
	if sim.files {
		w.costs = fileCosts
	}
	w.handler = w.handled
	f.work = w
	for i, at := range sim.places() {
		s := &w.stores[at]
		s.rng = mix(sim.seed ^ mix(uint64(at)))
		switch {
		case i < sim.hot:
			s.class = hot
		case i < sim.hot+sim.warm:
			s.class = warm
		case i < sim.hot+sim.warm+sim.sick:
			s.class = sickPoll + class(i%4)
		case sim.isHung(i):
			s.class = hung
		case sim.routed > 0 && i%2 == 0:
			s.class = routed
		}
		if s.next = s.gap(); s.class == sickSlice {
			s.next = min(s.next, int64(float64(time.Minute)*s.random()))
		}
	}
	return w
}

// settle makes the stores what they are after hours: a poll of each is due within a round,
// earlier for those that have work.
func (sim simulation) settle(f *Fleet, w *fakeWork, rng *rand.Rand) {
	const most = 4500 // polls of servers a second, with a new connection each
	for _, s := range f.registry.all() {
		within := s.longestPause()
		switch w.of(s).class {
		case hot:
			within = min(within, time.Second)
		case warm:
			within = min(within, gaps[warm])
		default:
			s.emptyPolls = 16
			if !sim.files {
				within = max(within, time.Duration(sim.stores)*time.Second/most)
			}
		}
		f.timetable.add(s, time.Now().Add(time.Duration(rng.Int64N(int64(within)))))
	}
}

// route enqueues into cold stores as the program does that runs the fleet.
func (sim simulation) route(ctx context.Context, f *Fleet, w *fakeWork, rng *rand.Rand) {
	for sim.routed > 0 && ctx.Err() == nil {
		if engine.Sleep(ctx, time.Duration(-math.Log(1-rng.Float64())/sim.routed*float64(time.Second))) != nil {
			return
		}
		i := rng.IntN(sim.stores)
		fs := &w.stores[i]
		fs.mu.Lock()
		idle := fs.class == routed && fs.next == never
		if idle {
			fs.next = w.now()
		}
		fs.mu.Unlock()
		if idle {
			f.registry.get(fmt.Sprintf("%07d", i)).db.Notify("")
		}
	}
}

func (o outcome) print(t *testing.T, name string) {
	line := fmt.Sprintf("%s: real %v polls/s %.0f, %.0f B/store, waited %d of %d, conn %d handlers %d slices %d", name, o.real.Round(time.Millisecond), o.pollRate, o.perStore, o.waited.Load(), o.worked.Load(), o.connections.most.Load(), o.handlers.most.Load(), o.slices.most.Load())
	for c := range routed + 1 {
		d := &o.delays[c]
		line += fmt.Sprintf("\n    class %d n=%d p50=%v p99=%v max=%v", c, d.count(), d.quantile(.5).Round(time.Millisecond), d.quantile(.99).Round(time.Millisecond), d.max().Round(time.Millisecond))
	}
	t.Log(line, o.list)
}
