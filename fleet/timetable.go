package fleet

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	// lookers is how many stores are looked at at once.
	lookers = 32
	// lookPatience is after how long a look no longer counts: a hundred databases
	// that hang must not keep the others from being looked at (D-91).
	lookPatience = 500 * time.Millisecond
	// suspects is how many of those that failed the last time are looked at at
	// once, beside the others, and suspectPause when to try again to be one of them.
	suspects     = 8
	suspectPause = time.Second
)

// soonPause is when to look for what a caller's transaction may have committed.
const soonPause = 20 * time.Millisecond

// timetable says when to look at which store. A store is either in it, or being
// looked at, or has its turn.
type timetable struct {
	mu    sync.Mutex
	queue visits
	of    map[*Store]*visit
	wake  chan struct{}
}

// visit is a look to come. While a store is away, being looked at or worked on,
// at is when it is to be looked at again at the latest.
type visit struct {
	s     *Store
	at    time.Time
	index int // in the queue; -1: away
	left  bool
}

func (t *timetable) init() {
	t.of, t.wake = map[*Store]*visit{}, make(chan struct{}, 1)
}

// add lets a store in, to be looked at at a time.
func (t *timetable) add(s *Store, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.of[s]
	switch {
	case v == nil:
		v = &visit{s: s, at: at}
		t.of[s] = v
		heap.Push(&t.queue, v)
		t.knock()
	case v.left: // it comes back before it was gone
		v.left, v.at = false, at
	default:
		t.hastenLocked(v, at)
	}
}

// hasten has a store looked at at a time or, if that is earlier, when it would have
// been anyway. One that is away keeps it in mind. A store that is not in the fleet,
// or is leaving it, is not brought back by what its last handlers do.
func (t *timetable) hasten(s *Store, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.of[s]; v != nil && !v.left {
		t.hastenLocked(v, at)
	}
}

func (t *timetable) hastenLocked(v *visit, at time.Time) {
	if !v.at.IsZero() && !at.Before(v.at) {
		return
	}
	v.at = at
	if v.index >= 0 {
		heap.Fix(&t.queue, v.index)
		t.knock()
	}
}

// back brings a store back that was away. It returns false if the store left.
func (t *timetable) back(s *Store, at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.of[s]
	if v == nil || v.left {
		delete(t.of, s)
		return false
	}
	if v.at.IsZero() || at.Before(v.at) {
		v.at = at
	}
	heap.Push(&t.queue, v)
	t.knock()
	return true
}

// remove takes a store out. It returns false if the store is away: then back will
// tell.
func (t *timetable) remove(s *Store) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.of[s]
	if v == nil {
		return true
	}
	if v.index < 0 {
		v.left = true
		return false
	}
	heap.Remove(&t.queue, v.index)
	delete(t.of, s)
	return true
}

// next takes the store out that is due, or says how long until one is.
func (t *timetable) next(now time.Time) (*Store, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return nil, time.Hour
	}
	first := t.queue[0]
	if wait := first.at.Sub(now); wait > 0 {
		return nil, wait
	}
	heap.Pop(&t.queue)
	first.at = time.Time{}
	return first.s, 0
}

// at returns when a store will be looked at; zero while it is away.
func (t *timetable) at(s *Store) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.of[s]; v != nil && v.index >= 0 {
		return v.at
	}
	return time.Time{}
}

func (t *timetable) knock() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// now has a store looked at at once.
func (f *Fleet) now(s *Store) { f.timetable.hasten(s, time.Now()) }

// soon has a store looked at in a moment, and then often for a while.
func (f *Fleet) soon(s *Store) {
	s.expect()
	f.timetable.hasten(s, time.Now().Add(soonPause))
}

// look looks at stores when it is time, until ctx ends.
func (f *Fleet) look(ctx context.Context) {
	well, failing := newBudget(lookers), newBudget(suspects)
	var looking sync.WaitGroup
	defer looking.Wait()
	for ctx.Err() == nil {
		s, wait := f.timetable.next(time.Now())
		if s == nil {
			pause, cancel := context.WithTimeout(ctx, wait)
			select {
			case <-f.timetable.wake:
			case <-pause.Done():
			}
			cancel()
			continue
		}
		free := well
		if s.fails() {
			free = failing
			if !free.try() {
				f.returns(s, suspectPause)
				continue
			}
		} else if free.take(ctx) != nil {
			f.returns(s, 0)
			return
		}
		looking.Go(func() {
			give := sync.OnceFunc(free.give)
			defer give()
			defer time.AfterFunc(lookPatience, give).Stop()
			f.lookAt(ctx, s)
		})
	}
}

// lookAt looks at a store: is there work, it waits for its turn; otherwise it is
// looked at again later.
func (f *Fleet) lookAt(ctx context.Context, s *Store) {
	due, ok, err := s.look(ctx)
	switch {
	case ctx.Err() != nil:
		f.returns(s, 0) // it may have left
	case err != nil:
		f.returns(s, s.bad(err))
	case ok && due <= 0:
		// That it can be read does not mean that it can be worked on: whether it is
		// well again its turn will show.
		s.answered()
		s.busy()
		f.turns.offer(s)
	default:
		s.good()
		pause, cold := s.rest(due, ok)
		if cold && f.registry.count() > f.opts.KeepReady {
			s.idle()
		}
		f.returns(s, pause)
	}
}

// returns puts a store back into the timetable or, if it left meanwhile, closes it.
func (f *Fleet) returns(s *Store, pause time.Duration) {
	if !f.timetable.back(s, time.Now().Add(pause)) {
		f.closeStore(s)
	}
}

// leave takes a store out of the fleet. What is being done in it is finished first.
func (f *Fleet) leave(s *Store) {
	here := f.timetable.remove(s)
	switch waited := f.turns.dismiss(s); {
	case here:
		f.closeStore(s)
	case waited:
		f.returns(s, 0)
	}
}

// closeStore closes a store that left, unless it is back.
func (f *Fleet) closeStore(s *Store) {
	if db := f.registry.shut(s); db != nil {
		if err := db.Close(); err != nil {
			s.log.Warn("could not close the store", "error", err)
		}
	}
}

// drained waits until the list was read and no store has anything due.
func (f *Fleet) drained(ctx context.Context) {
	for ctx.Err() == nil && !f.isDrained() {
		_ = engine.Sleep(ctx, soonPause)
	}
}

// hopeless is after how many failures, or turns that could do nothing about what
// is due, a store does not keep a fleet from being drained.
const hopeless = 3

func (f *Fleet) isDrained() bool {
	if read, _ := f.registry.state(); !read || !f.turns.empty() {
		return false
	}
	for _, s := range f.registry.all() {
		s.mu.Lock()
		settled := s.quiet > 1 || s.failures >= hopeless || s.vain >= hopeless
		s.mu.Unlock()
		if !settled {
			return false
		}
	}
	return true
}

// visits is a heap of looks to come.
type visits []*visit

func (q visits) Len() int           { return len(q) }
func (q visits) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q visits) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is container/heap's.
func (q *visits) Push(x any) {
	v := x.(*visit)
	v.index = len(*q)
	*q = append(*q, v)
}

// Pop is container/heap's.
func (q *visits) Pop() any {
	old := *q
	v := old[len(old)-1]
	v.index = -1
	*q = old[:len(old)-1]
	return v
}
