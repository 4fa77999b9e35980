package fleet

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// quickly is a fleet that is simulated in seconds: everything at once.
func quickly(stores int) simulation {
	return simulation{seed: 7, stores: stores, hot: stores / 1000, warm: stores / 100, routed: 20, settled: true, warmUp: 20 * time.Second, length: 30 * time.Second}
}

// million is how many stores there are in long runs.
func million(stores int) int {
	if os.Getenv("PAWL_LONG") != "" {
		return 1_000_000
	}
	return stores
}

// kept checks what holds in every simulation.
func (o outcome) kept(t *testing.T, opts Options) {
	t.Helper()
	opts.defaults()
	for _, wrong := range o.list {
		t.Error(wrong)
	}
	if n := o.connections.most.Load(); n > int64(opts.Connections) {
		t.Errorf("%d connections at once", n)
	}
	if n := o.handlers.most.Load(); n > int64(opts.Handlers) {
		t.Errorf("%d handlers at once", n)
	}
	if o.handlers.most.Load() == 0 || o.worked.Load() == 0 {
		t.Error("nothing was done")
	}
}

// D-270: with ten thousand stores, in long runs a million, the real schedule keeps its
// budgets, works on no store twice at once, and has cold ones picked up with their next poll.
func TestSimulatedBudgets(t *testing.T) {
	for _, files := range []bool{false, true} {
		sim := quickly(10_000)
		sim.stores, sim.files = million(10_000), files
		sim.opts.Active, sim.opts.Handlers, sim.opts.PollFiles = 24, 32, 20*time.Second
		o := sim.run(t)
		o.print(t, kindText(files))
		o.kept(t, sim.opts)
		if n := o.slices.most.Load(); n > 24 || n < 20 {
			t.Errorf("%d stores of 24 were worked on at once", n)
		}
		if d := o.delays[routed].max(); d > 2*time.Second {
			t.Errorf("what the program enqueued waited %v", d)
		}
		if o.perStore > 1024 {
			t.Errorf("a store takes %.0f bytes", o.perStore)
		}
	}
}

// D-271: a store with work waits for at most one turn of each other store with work, also
// where thousands wait, and the turns of busy stores differ by a factor of two at most.
func TestSimulatedFairness(t *testing.T) {
	sim := simulation{seed: 7, stores: 2000, files: true, hot: 400, warm: 20, settled: true, warmUp: 10 * time.Second, length: 10 * time.Second}
	sim.opts.Active, sim.opts.Handlers = 16, 64
	o := sim.run(t)
	o.print(t, "overload")
	o.kept(t, sim.opts)
	if waited, worked := o.waited.Load(), o.worked.Load(); waited > worked || waited < 100 {
		t.Errorf("a store waited for %d turns, %d stores had work", waited, worked)
	}
	least, most := slices.Min(o.turnsBySlot), slices.Max(o.turnsBySlot)
	if least == 0 || most > 2*least+2 {
		t.Errorf("busy stores had %d to %d turns", least, most)
	}
}

// D-272: with a twentieth of the stores sick, on servers, the others are worked on within the
// time of a few polls and turns more than without; with a fifth, turns of sick ones still
// leave places to those that are busy.
func TestSimulatedSickness(t *testing.T) {
	for sick, limits := range map[int]map[class]time.Duration{
		250:  {hot: 2 * time.Second, routed: 2 * time.Second, warm: 35 * time.Second, cold: 40 * time.Second},
		1000: {hot: 500 * time.Millisecond},
	} {
		sim := quickly(5000)
		sim.hot, sim.warm, sim.sick = 1, 50, sick
		sim.warmUp, sim.length = 3*time.Minute, time.Minute
		o := sim.run(t)
		o.print(t, fmt.Sprint("sick ", sick))
		o.kept(t, sim.opts)
		for class, limit := range limits {
			if d := o.delays[class].quantile(.99); d > limit {
				t.Errorf("%d sick, %s: %v", sick, classNames[class], d)
			}
		}
	}
}

// D-265: stores on a server that accepts connections and never answers, a tenth of all, hold up
// nobody else.
func TestSimulatedSilentServer(t *testing.T) {
	sim := simulation{seed: 7, stores: 6000, hot: 1, warm: 60, hung: 600, routed: 20, warmUp: time.Minute, length: 30 * time.Second}
	o := sim.run(t)
	o.print(t, "silent")
	o.kept(t, sim.opts)
	for class, limit := range map[class]time.Duration{hot: 2 * time.Second, routed: 2 * time.Second, warm: 35 * time.Second} {
		if d := &o.delays[class]; d.count() == 0 || d.quantile(.99) > limit {
			t.Errorf("%s: %d, %v", classNames[class], d.count(), d.quantile(.99))
		}
	}
}

// D-91: when all databases were gone for a while, all stores are worked on again within a minute of
// their next poll, also where turns have no end because the fleet keeps all stores ready.
func TestSimulatedOutage(t *testing.T) {
	sim := simulation{seed: 7, stores: 400, warm: 400, settled: true, outage: 20 * time.Second, warmUp: 80 * time.Second, length: 60 * time.Second}
	sim.opts.KeepReady = sim.stores
	o := sim.run(t)
	o.print(t, "outage")
	o.kept(t, sim.opts)
	for i := range o.stores {
		if o.stores[i].claimed == 0 {
			t.Errorf("store %d was not worked on", i)
		}
	}
	if d := o.delays[warm].max(); d > time.Minute {
		t.Errorf("a message waited %v", d)
	}
}

// D-273: the first polls of stores are spread: none comes before its turn.
func TestSimulatedFirstPolls(t *testing.T) {
	sim := simulation{seed: 7, stores: 2000, files: true, length: 3 * time.Second}
	o := sim.run(t)
	early, late := 0, 0
	for i := range o.stores {
		at, turn := time.Duration(o.stores[i].firstPoll), time.Duration(i)*firstPollCost
		switch {
		case at == 0 && turn < sim.length:
			late++
		case at != 0 && at < turn:
			early++
		}
	}
	if early > 0 || late > 0 {
		t.Errorf("%d stores were polled too early, %d never", early, late)
	}
}

// D-274: a seed decides when messages come and how long handlers take. What happens at one
// moment of the virtual clock is in Go's own order: runs are alike, not the same.
func TestSimulatedSeed(t *testing.T) {
	came := func(seed uint64) (all []int64) {
		w := simulation{seed: seed, stores: 100, hot: 20, warm: 20}.fake(idleFleet(t, Options{}))
		for i := range w.stores {
			all = append(all, w.stores[i].take(int64(time.Minute), 50)...)
		}
		return all
	}
	first := came(1)
	if len(first) < 1000 || !slices.Equal(first, came(1)) || slices.Equal(first, came(2)) {
		t.Errorf("%d messages", len(first))
	}
}
