package fleet

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// turns lets the stores that have work be worked on, a number of them at once.
type turns struct {
	f *Fleet

	mu      sync.Mutex
	ctx     context.Context // Run's; nil before
	waiting map[string]*Store
	active  map[*Store]*turn
	lively  int    // active turns that count
	servers int    // those of them that are on servers
	last    string // key of the last turn given
	running sync.WaitGroup
}

// turn is work on a store under way.
type turn struct {
	s      *Store
	cancel context.CancelFunc
	counts bool // it takes one of the places
	over   bool // asked to end
	silent bool // the database has stopped answering
}

func (ts *turns) init(f *Fleet) {
	ts.f, ts.waiting, ts.active = f, map[string]*Store{}, map[*Store]*turn{}
}

// roomLocked reports whether a store may be worked on now. Those on servers need
// connections; more of them than there are connections would wait for each other.
func (ts *turns) roomLocked(s *Store) bool {
	return ts.lively < ts.f.opts.Active && (s.at.isFile() || ts.servers < ts.serverPlaces())
}

func (ts *turns) serverPlaces() int { return max(1, ts.f.opts.Connections/minPerStore) }

// crowdedLocked reports whether there are more turns like this one than places.
func (ts *turns) crowdedLocked(t *turn) bool {
	return ts.lively > ts.f.opts.Active || !t.s.at.isFile() && ts.servers > ts.serverPlaces()
}

// wantedLocked reports whether another store waits for a place like a turn's.
func (ts *turns) wantedLocked(t *turn) bool {
	return len(ts.waiting) > 0 && t.counts && (!t.s.at.isFile() || ts.lively >= ts.f.opts.Active)
}

// begin lets turns be given until ctx ends.
func (ts *turns) begin(ctx context.Context) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.ctx = ctx
}

// admitted waits until there is room for one more handler. It is false if ctx ends
// first, or the fleet stops: then only what was begun goes on (D-19).
func (f *Fleet) admitted(ctx context.Context) bool {
	if f.handlers.try() {
		return true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.turns.mu.Lock()
	running := f.turns.ctx
	f.turns.mu.Unlock()
	defer context.AfterFunc(running, cancel)()
	return f.handlers.take(ctx) == nil
}

// offer has a store that has work wait for its turn.
func (ts *turns) offer(s *Store) {
	ts.mu.Lock()
	waits := ts.waitLocked(s)
	ts.grantLocked()
	ts.mu.Unlock()
	if !waits {
		ts.f.returns(s, 0)
	}
}

// waitLocked has a store wait, unless it left meanwhile: then dismiss came before,
// or will find it.
func (ts *turns) waitLocked(s *Store) bool {
	if ts.f.registry.get(s.Key) != s {
		return false
	}
	ts.waiting[s.Key] = s
	return true
}

// grantLocked gives turns while there are places.
func (ts *turns) grantLocked() {
	for ts.ctx.Err() == nil {
		keys := make([]string, 0, len(ts.waiting))
		for key, s := range ts.waiting {
			if ts.roomLocked(s) {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			return
		}
		slices.Sort(keys)
		key := ts.f.opts.Strategy.Next(keys, ts.last)
		s := ts.waiting[key]
		if !slices.Contains(keys, key) { // a strategy of the program's that made one up
			key = keys[0]
			s = ts.waiting[key]
		}
		ts.last = key
		delete(ts.waiting, key)
		own, cancel := context.WithCancel(ts.ctx)
		t := &turn{s: s, cancel: cancel, counts: true}
		ts.active[s] = t
		ts.countLocked(t, 1)
		ts.running.Go(func() { ts.run(own, t) })
	}
}

// stats are what the workers of a store did.
func (s *Store) stats() worker.Counts { return s.process.Stats() }

// run works on a store until its turn is over.
func (ts *turns) run(ctx context.Context, t *turn) {
	defer t.cancel()
	t.s.shows()
	before := t.s.stats()
	watched := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { ts.watch(watched, t) })
	err := t.s.process.Slice(ctx, worker.TimeSlice{
		IdleTimeout: func() time.Duration { return ts.linger(t) },
		Continue:    func() bool { return ts.goesOn(t) },
	})
	t.s.clean(ctx)
	close(watched)
	watch.Wait()
	after := t.s.stats()
	if after.Errors > before.Errors && !after.LastSuccess.After(before.LastSuccess) || t.silent {
		err = errors.Join(err, errNoAnswer)
	}
	if err != nil {
		pause := t.s.bad(err)
		ts.end(t, false)
		ts.f.returns(t.s, pause)
		return
	}
	t.s.good()
	pause := t.s.worked(after.Claimed > before.Claimed || ctx.Err() != nil)
	if !ts.end(t, t.over && after.Claimed > before.Claimed) {
		ts.f.returns(t.s, pause)
	}
}

var errNoAnswer = errors.New("the database does not answer")

// end gives the place back. A store that had to stop waits again before anybody
// gets its place: the next one sees that it is not alone. Reports whether it waits.
func (ts *turns) end(t *turn, again bool) (waits bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.active, t.s)
	waits = again && ts.waitLocked(t.s)
	ts.parkLocked(t)
	ts.grantLocked()
	return waits
}

// parkLocked has a turn take no place any more.
func (ts *turns) parkLocked(t *turn) {
	if t.counts {
		t.counts = false
		ts.countLocked(t, -1)
		ts.grantLocked()
	}
}

func (ts *turns) countLocked(t *turn, n int) {
	ts.lively += n
	if !t.s.at.isFile() {
		ts.servers += n
	}
}

// dismiss ends what a store is waiting for or being worked on. It reports whether
// it was waiting: then nobody else will bring it back.
func (ts *turns) dismiss(s *Store) (waited bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.waiting[s.Key] == s {
		delete(ts.waiting, s.Key)
		return true
	}
	if t := ts.active[s]; t != nil {
		t.cancel()
	}
	return false
}

// empty reports whether no store has work.
func (ts *turns) empty() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.waiting)+len(ts.active) == 0
}

// state says what a store is at.
func (ts *turns) state(s *Store) State {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	switch {
	case ts.active[s] != nil:
		return Active
	case ts.waiting[s.Key] == s:
		return Waiting
	}
	return Idle
}

// forever is a pause that does not end.
const forever = time.Duration(math.MaxInt64)

// linger is how long a turn without work lasts: not at all while others wait, for
// good where there are few stores, and otherwise a while.
func (ts *turns) linger(t *turn) time.Duration {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	switch {
	case t.over, ts.wantedLocked(t), ts.f.opts.StopWhenEmpty, t.silent:
		return 0
	case !t.counts && !t.s.at.isFile() && ts.f.conns.waiting.Load() > 0: // others need what it keeps
		return 0
	case ts.f.registry.count() <= ts.f.opts.KeepReady:
		return forever
	}
	return ts.f.opts.Cool
}

// goesOn asks the strategy whether a turn with work goes on while others wait.
func (ts *turns) goesOn(t *turn) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if !t.over && ts.wantedLocked(t) && !ts.f.opts.Strategy.Continue(t.s.Key) {
		t.over = true
	}
	if t.counts && ts.crowdedLocked(t) { // turns came to life that had given their places away
		t.over = true
	}
	return !t.over
}

// patience is how long a turn may make no progress before it no longer counts: a
// store that hangs, or whose handlers do, must not take a place from others (D-91).
const patience = 2 * time.Second

// watch parks a turn that makes no progress, until it makes some again, and ends
// one whose database has stopped answering, as soon as nothing is left to tell it.
func (ts *turns) watch(done chan struct{}, t *turn) {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	seen := t.s.stats()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		now := t.s.stats()
		stuck := !now.LastSuccess.After(seen.LastSuccess)
		ts.mu.Lock()
		// Between two tries there may be more than one tick.
		t.silent = stuck && (t.silent || now.Errors > seen.Errors)
		silent := t.silent
		switch {
		case stuck:
			ts.parkLocked(t)
		case !t.counts:
			t.counts = true
			ts.countLocked(t, 1)
		}
		ts.mu.Unlock()
		seen = now
		switch {
		case silent: // what it finished is kept until the database is back
			t.s.failed(errNoAnswer)
		case !stuck:
			t.s.good()
		}
	}
}
