package fleet

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/work"
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
	return ts.lively < ts.f.opts.Active && (s.at.isFile() || ts.servers < max(1, ts.f.opts.Connections/minPerStore))
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

// offer has a store that has work wait for its turn.
func (ts *turns) offer(s *Store) {
	if ts.f.registry.get(s.Key) != s { // it left meanwhile
		ts.f.returns(s, 0)
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.waiting[s.Key] = s
	ts.grantLocked()
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
func (s *Store) stats() work.Counts { return s.Outbox.Stats().Add(s.Inbox.Stats()) }

// run works on a store until its turn is over.
func (ts *turns) run(ctx context.Context, t *turn) {
	defer t.cancel()
	before := t.s.stats()
	watched := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { ts.watch(watched, t) })
	err := t.s.RunTurn(ctx, work.Turn{
		Linger: func() time.Duration { return ts.linger(t) },
		GoOn:   func() bool { return ts.goesOn(t) },
	})
	close(watched)
	watch.Wait()
	t.s.clean(ctx)
	after := t.s.stats()
	if after.Errors > before.Errors && !after.LastSuccess.After(before.LastSuccess) || t.silent {
		err = errors.Join(err, errNoAnswer)
	}
	ts.end(t)
	if err != nil {
		ts.f.returns(t.s, t.s.bad(err))
		return
	}
	t.s.good()
	if t.over && after.Claimed > before.Claimed {
		ts.offer(t.s) // it had to stop
		return
	}
	ts.f.returns(t.s, time.Millisecond) // nobody was watching for a moment
}

var errNoAnswer = errors.New("the database does not answer")

// end gives the place back.
func (ts *turns) end(t *turn) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.active, t.s)
	ts.parkLocked(t)
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
	case ts.wantedLocked(t), ts.f.opts.StopWhenEmpty, t.silent:
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
	if !t.over && ts.wantedLocked(t) && !ts.f.opts.Strategy.GoOn(t.s.Key) {
		t.over = true
	}
	return !t.over
}

// patience is how long a turn may make no progress before it no longer counts: a
// store that hangs, or whose handlers do, must not take a place from others (D-91).
const patience = 2 * time.Second

// watch parks a turn that makes no progress, and ends one whose database has
// stopped answering, as soon as nothing is left to tell it.
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
		silent := stuck && now.Errors > seen.Errors
		seen = now
		ts.mu.Lock()
		t.silent = silent
		if stuck {
			ts.parkLocked(t)
		}
		ts.mu.Unlock()
		switch {
		case silent: // what it finished is kept until the database is back
			t.s.fails(errNoAnswer)
		case !stuck:
			t.s.good()
		}
	}
}
