package fleet

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/worker"
)

// turns schedules work on stores that have some, with a limit on how many at once.
type turns struct {
	f *Fleet

	mu      sync.Mutex
	ctx     context.Context // Run's; nil before
	waiting queue
	active  map[*Store]*turn
	counted int       // active turns that count
	servers int       // those of them that are on servers
	failing [2]int    // active turns of stores that failed the last time, on servers and of files; all count
	last    [2]string // keys of the stores that were chosen last, of those that failed apart
	running sync.WaitGroup
}

// turn is the current time slice of a store.
type turn struct {
	s      *Store
	cancel context.CancelFunc
	kind   kind
	counts bool // it occupies one of the places
	over   bool // asked to end
	silent bool // the database has stopped answering
}

func (ts *turns) init(f *Fleet) {
	ts.f, ts.active = f, map[*Store]*turn{}
	ts.waiting.stores = map[string]*Store{}
}

// hasPlaceLocked reports whether a store of a kind may be worked on now. Those on servers need
// connections; more stores than there are connections would wait for each other.
func (ts *turns) hasPlaceLocked(k kind) bool {
	return ts.counted < ts.f.opts.Active && (k.file || ts.servers < ts.serverPlaces()) && ts.mayFailLocked(k)
}

// failingShare is which part of the places stores may have that failed the last time. Their
// turns may hang; then they do not count any more, but they keep their connections.
const failingShare = 8

// mayFailLocked reports whether one more turn of a kind is allowed, as far as failures go.
func (ts *turns) mayFailLocked(k kind) bool {
	places := ts.f.opts.Active
	if !k.file {
		places = ts.serverPlaces()
	}
	return !k.fails || ts.failing[k.column()] < max(1, places/failingShare)
}

// mayFollowLocked reports whether a store of a kind that waits could be worked on after a turn, as far
// as failures go: those that failed wait for the end of each other's.
func (ts *turns) mayFollowLocked(t *turn, k kind) bool {
	return k.fails && t.kind == k || ts.mayFailLocked(k)
}

func (ts *turns) serverPlaces() int { return max(1, ts.f.opts.Connections/minPerStore) }

// overBookedLocked reports whether there are more turns of this kind than places.
func (ts *turns) overBookedLocked(t *turn) bool {
	return ts.counted > ts.f.opts.Active || !t.s.isFile() && ts.servers > ts.serverPlaces()
}

// wantedLocked reports whether another store waits for a place of a turn's kind.
func (ts *turns) wantedLocked(t *turn) bool {
	follows := func(k kind) bool { return ts.mayFollowLocked(t, k) }
	return t.counts && (!t.kind.file || t.kind.fails || ts.counted >= ts.f.opts.Active) && ts.waiting.any(follows)
}

// begin starts the scheduling, until ctx ends.
func (ts *turns) begin(ctx context.Context) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.ctx = ctx
}

// admitted waits for a token of the budget of handlers. It is false if ctx ends first, or the
// fleet stops: then only what has started goes on (D-19).
func (f *Fleet) admitted(ctx context.Context) bool {
	f.turns.mu.Lock()
	running := f.turns.ctx
	f.turns.mu.Unlock()
	if !f.handlers.try() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(running, cancel)()
		if f.handlers.acquire(ctx) != nil {
			return false
		}
	}
	if running.Err() != nil { // a token became free before the end was heard of
		f.handlers.release()
		return false
	}
	return true
}

// enqueue makes a store that has work wait for its turn.
func (ts *turns) enqueue(s *Store) {
	ts.mu.Lock()
	waits := ts.waitLocked(s)
	ts.grantLocked()
	ts.mu.Unlock()
	if !waits {
		ts.f.giveBack(s, 0)
	}
}

// waitLocked makes a store wait, unless it left meanwhile or is another process's: then withdraw was called before,
// or will find it.
func (ts *turns) waitLocked(s *Store) bool {
	if ts.f.registry.get(s.Key) != s || !s.isOurs() {
		return false
	}
	ts.waiting.add(s)
	return true
}

// grantLocked starts turns while there are places.
func (ts *turns) grantLocked() {
	for ts.ctx.Err() == nil {
		s := ts.chooseLocked()
		if s == nil {
			return
		}
		ts.waiting.remove(s.Key)
		own, cancel := context.WithCancel(ts.ctx)
		t := &turn{s: s, kind: kindOf(s), cancel: cancel, counts: true}
		ts.active[s] = t
		ts.countLocked(t, 1)
		ts.countFailingLocked(t, 1)
		ts.running.Go(func() { ts.run(own, t) })
	}
}

// chooseLocked returns the store that is next; nil: none has a place. Those that failed are
// first, up to their share, and in an order of their own: in that of all they would be passed
// over whenever it is their turn and their places are taken.
func (ts *turns) chooseLocked() *Store {
	for i, fails := range []bool{true, false} {
		s := ts.waiting.choose(ts.f.opts.Strategy, ts.last[i], func(k kind) bool { return k.fails == fails && ts.hasPlaceLocked(k) })
		if s != nil {
			ts.last[i] = s.Key
			return s
		}
	}
	return nil
}

// stats are what the workers of a store did.
func (s *Store) stats() worker.Counts { return s.fleet.work.stats(s) }

// run works on a store until its turn is over.
func (ts *turns) run(ctx context.Context, t *turn) {
	defer t.cancel()
	t.s.markListed()
	before := t.s.stats()
	watched := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { ts.watch(watched, t, before) })
	err := ts.f.work.slice(ctx, t.s, worker.TimeSlice{
		IdleTimeout: func() time.Duration { return ts.idleTimeout(t) },
		Continue:    func() bool { return ts.mayContinue(t) },
	})
	t.s.endSlice()
	t.s.clean(ctx)
	close(watched)
	watch.Wait()
	if errors.Is(err, errNoConnection) { // that is the fleet's, not the store's
		ts.end(t, false)
		ts.f.giveBack(t.s, engine.Jitter(ts.f.opts.PollMin, 0.1))
		return
	}
	after := t.s.stats()
	if after.Errors > before.Errors && !after.LastSuccess.After(before.LastSuccess) || t.silent {
		err = errors.Join(err, errNoAnswer)
	}
	if err != nil {
		pause := t.s.markFailed(err)
		ts.end(t, false)
		ts.f.giveBack(t.s, pause)
		return
	}
	t.s.markHealthy()
	pause := t.s.afterSlice(after.Claimed > before.Claimed || ctx.Err() != nil)
	if !ts.end(t, t.over && after.Claimed > before.Claimed) {
		ts.f.giveBack(t.s, pause)
	}
}

var errNoAnswer = errors.New("the database does not answer")

// end frees the place. A store that had to stop waits again before its place is taken, so that
// the next one has a competitor. It reports whether the store waits.
func (ts *turns) end(t *turn, again bool) (waits bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.active, t.s)
	waits = again && ts.waitLocked(t.s)
	ts.countFailingLocked(t, -1)
	ts.uncountLocked(t)
	ts.grantLocked()
	return waits
}

// uncountLocked makes a turn occupy no place any more.
func (ts *turns) uncountLocked(t *turn) {
	if t.counts {
		t.counts = false
		ts.countLocked(t, -1)
		ts.grantLocked()
	}
}

func (ts *turns) countFailingLocked(t *turn, n int) {
	if t.kind.fails {
		ts.failing[t.kind.column()] += n
	}
}

// recoveredLocked makes a turn one of a store that does not fail: its database answers. Others that
// failed need not wait until it is over, which may take as long as its handlers do.
func (ts *turns) recoveredLocked(t *turn) {
	if t.kind.fails {
		ts.countFailingLocked(t, -1)
		t.kind.fails = false
		ts.grantLocked()
	}
}

func (ts *turns) countLocked(t *turn, n int) {
	ts.counted += n
	if !t.s.isFile() {
		ts.servers += n
	}
}

// withdraw ends the wait or the turn of a store. It reports whether it was waiting: then the
// caller has to put it back.
func (ts *turns) withdraw(s *Store) (waited bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.waiting.has(s) {
		ts.waiting.remove(s.Key)
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
	return ts.waiting.len()+len(ts.active) == 0
}

// state returns the state of a store.
func (ts *turns) state(s *Store) fleetstate.State {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	switch {
	case ts.active[s] != nil:
		return fleetstate.Active
	case ts.waiting.has(s):
		return fleetstate.Waiting
	}
	return fleetstate.Idle
}

// noEnd is an idle timeout that never passes.
const noEnd = time.Duration(math.MaxInt64)

// idleTimeout returns how long a turn without work lasts: no time while others wait, without
// end where there are few stores, and otherwise Options.Cool.
func (ts *turns) idleTimeout(t *turn) time.Duration {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	switch {
	case t.over, ts.wantedLocked(t), ts.f.opts.Pawl.StopWhenEmpty, t.silent:
		return 0
	case !t.counts && !t.s.isFile() && ts.f.conns.waiting.Load() > 0: // others need its connections
		return 0
	case ts.f.keepsReady():
		return noEnd
	}
	return ts.f.opts.Cool
}

// keepsReady reports whether there are so few stores that turns do not end.
func (f *Fleet) keepsReady() bool {
	return !f.opts.Pawl.StopWhenEmpty && f.workedOn() <= f.opts.KeepReady
}

// mayContinue asks the strategy whether a turn with work continues while others wait.
func (ts *turns) mayContinue(t *turn) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if !t.over && ts.wantedLocked(t) && !ts.f.opts.Strategy.Continue(t.s.Key) {
		t.over = true
	}
	if t.counts && ts.overBookedLocked(t) { // turns that occupied no place made progress again
		t.over = true
	}
	return !t.over
}

// progressTimeout is how long a turn may make no progress before it occupies no place: a store
// that hangs, or whose handlers do, must not take a place from others (D-91).
const progressTimeout = 2 * time.Second

// watch frees the place of a turn that makes no progress, until it makes some again, and ends
// one whose database has stopped answering, as soon as there is nothing to settle.
func (ts *turns) watch(done chan struct{}, t *turn, seen worker.Counts) {
	tick := time.NewTicker(progressTimeout)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		now := t.s.stats()
		stuck := !now.LastSuccess.After(seen.LastSuccess)
		ts.mu.Lock()
		// There may be more than one tick between two attempts.
		t.silent = stuck && (t.silent || now.Errors > seen.Errors)
		silent := t.silent
		if !stuck {
			ts.recoveredLocked(t)
		}
		switch {
		case stuck:
			ts.uncountLocked(t)
		case !t.counts:
			t.counts = true
			ts.countLocked(t, 1)
		}
		ts.mu.Unlock()
		seen = now
		switch {
		case silent: // what it finished is kept until the database answers
			t.s.failed(errNoAnswer)
		case !stuck:
			t.s.markHealthy()
		}
		if ts.f.work.moved(ts.ctx, t.s) {
			t.cancel()
		}
	}
}
