package fleet

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	// maxPolls is how many stores are polled at once.
	maxPolls = 32
	// slowPoll is after how long a poll no longer counts against maxPolls: a hundred
	// databases that hang must not prevent polls of the others (D-91).
	slowPoll = 500 * time.Millisecond
	// maxFailingPolls is how many stores that failed the last time are polled at once, in
	// addition to the others. On servers a poll counts until it ends: those that hang would
	// hold all connections.
	maxFailingPolls = 8
)

// soonDelay is the delay of a poll for what a caller's transaction may have committed.
const soonDelay = 20 * time.Millisecond

// timetable has the times of the next polls. A store is either in it, or being polled, or
// being worked on.
type timetable struct {
	mu     sync.Mutex
	queues [pollQueues]entryHeap
	of     map[*Store]*entry
	wake   chan struct{}
	last   pollQueue // where the last poll came from when there was a choice
	taken  time.Time // when the last poll began
}

// pollQueue is which of the queues of a timetable a poll is in.
type pollQueue uint8

const (
	regular pollQueue = iota
	prompt            // of stores that had work just now, or were enqueued into
	failing           // of stores that failed the last time: they have places of their own
	pollQueues
)

// entry is a poll to come. While a store is being polled or worked on, at is the time of its
// next poll at the latest.
type entry struct {
	s     *Store
	at    time.Time
	index int // in its queue; -1: being polled or worked on
	left  bool
	in    pollQueue
}

func (t *timetable) init() {
	t.of, t.wake = map[*Store]*entry{}, make(chan struct{}, 1)
}

// add adds a store, to be polled at a time.
func (t *timetable) add(s *Store, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.of[s]
	switch {
	case v == nil:
		v = &entry{s: s, at: at}
		t.of[s] = v
		t.pushLocked(v, regular)
	case v.left: // it is added again before it was removed
		v.left, v.at = false, at
	default:
		t.pollByLocked(v, at)
	}
}

// pollBy schedules the poll of a store at a time or earlier. If the store is being polled or
// worked on this applies when it is put back. Calls by the last handlers of a store that is
// not in the fleet, or is leaving it, have no effect.
func (t *timetable) pollBy(s *Store, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.of[s]; v != nil && !v.left {
		t.pollByLocked(v, at)
	}
}

func (t *timetable) pollByLocked(v *entry, at time.Time) {
	rises := v.index >= 0 && v.in == regular && v.s.isPrompt(at) // also if it is overdue
	sooner := v.at.IsZero() || at.Before(v.at)
	if sooner {
		v.at = at
	}
	switch {
	case rises:
		heap.Remove(&t.queues[regular], v.index)
		t.pushLocked(v, prompt)
	case sooner && v.index >= 0:
		heap.Fix(&t.queues[v.in], v.index)
		t.notify()
	}
}

// putBack puts a store back after a poll or work. It returns false if the store left.
func (t *timetable) putBack(s *Store, at time.Time) bool {
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
	in := regular
	if s.isPrompt(v.at) {
		in = prompt
	}
	t.pushLocked(v, in)
	return true
}

// isPrompt reports whether a poll comes earlier than those of a store that has had nothing to
// do for a while.
func (s *Store) isPrompt(at time.Time) bool { return time.Until(at) <= s.longestPause()/2 }

// pushLocked puts a poll into a queue, or into that of stores that failed.
func (t *timetable) pushLocked(v *entry, in pollQueue) {
	if v.in = in; v.s.fails() {
		v.in = failing
	}
	heap.Push(&t.queues[v.in], v)
	t.notify()
}

// remove removes a store. It returns false if the store is being polled or worked on: then
// putBack returns false later.
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
	heap.Remove(&t.queues[v.in], v.index)
	delete(t.of, s)
	return true
}

// next removes and returns the store that is due, or returns how long until one is. Without
// failing it leaves out those that failed the last time.
func (t *timetable) next(now time.Time, withFailing bool) (*Store, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.firstLocked(now)
	if v := t.queues[failing].first(); withFailing && v != nil && (first == nil || v.at.Before(first.at)) {
		first = v
	}
	if first == nil {
		return nil, time.Hour
	}
	if wait := first.at.Sub(now); wait > 0 {
		return nil, wait
	}
	heap.Pop(&t.queues[first.in])
	first.at = time.Time{}
	t.taken = now
	return first.s, 0
}

// firstLocked returns the first poll of a store that does not fail; nil: there is none. Where
// more polls are overdue than can be made, prompt ones do not wait behind all regular ones,
// nor the other way round: they take turns.
func (t *timetable) firstLocked(now time.Time) *entry {
	one, other := t.queues[regular].first(), t.queues[prompt].first()
	switch {
	case one == nil:
		return other
	case other == nil:
		return one
	case one.at.After(now) || other.at.After(now):
		if other.at.Before(one.at) {
			return other
		}
		return one
	}
	if t.last = regular + prompt - t.last; t.last == prompt {
		return other
	}
	return one
}

// overdue returns a store whose poll is due and since when, or since when no other was begun
// instead; nil: none is.
func (t *timetable) overdue(now time.Time) (*Store, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, in := range []pollQueue{regular, prompt} {
		if v := t.queues[in].first(); v != nil && v.at.Before(now) {
			return v.s, min(now.Sub(v.at), now.Sub(t.taken))
		}
	}
	return nil, 0
}

// at returns when a store will be polled; zero while it is polled or worked on.
func (t *timetable) at(s *Store) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.of[s]; v != nil && v.index >= 0 {
		return v.at
	}
	return time.Time{}
}

// count returns how many stores there are, those that are being polled or worked on included.
func (t *timetable) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of)
}

func (t *timetable) notify() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// pollNow schedules a poll of a store at once.
func (f *Fleet) pollNow(s *Store) { f.timetable.pollBy(s, time.Now()) }

// pollSoon schedules a poll of a store in a moment, and several more after that.
func (f *Fleet) pollSoon(s *Store) {
	s.expectCommit()
	f.timetable.pollBy(s, time.Now().Add(soonDelay))
}

// pollLoop polls stores on time, until ctx ends.
func (f *Fleet) pollLoop(ctx context.Context) {
	well, failing := newBudget(maxPolls), newBudget(maxFailingPolls)
	var polls sync.WaitGroup
	defer polls.Wait()
	for ctx.Err() == nil {
		s, wait := f.timetable.next(time.Now(), failing.used() < failing.total())
		if s == nil {
			timeout, cancel := context.WithTimeout(ctx, wait)
			select {
			case <-f.timetable.wake:
			case <-timeout.Done():
			}
			cancel()
			continue
		}
		admitted := s.server.admit()
		if !admitted.ok {
			f.putOff(s, admitted.vain)
			continue
		}
		free, fails := well, s.fails()
		if fails {
			free = failing
		}
		if free.acquire(ctx) != nil {
			f.giveBack(s, 0)
			return
		}
		polls.Go(func() {
			release := sync.OnceFunc(func() {
				free.release()
				if fails { // the loop leaves failing stores out while they have no place
					f.timetable.notify()
				}
			})
			defer release()
			f.pollWatched(ctx, s, admitted, func() {
				if !fails || s.isFile() {
					release()
				}
			})
		})
	}
}

// pollWatched polls a store, and calls isSlow when that takes long.
func (f *Fleet) pollWatched(ctx context.Context, s *Store, a admission, isSlow func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	connected := func() bool { return f.conns.holders.has(s) }
	defer time.AfterFunc(slowPoll, func() {
		fails := s.fails()
		isSlow()
		if !connected() {
			return
		}
		s.server.isSlow()
		if f.conns.waiting.Load() > 0 && !fails { // others need its connection
			cancel(errSlow)
		}
	}).Stop()
	began := time.Now()
	due, ok, err := f.work.poll(ctx, s)
	answered := err == nil || time.Since(began) < slowPoll && ctx.Err() == nil && !errors.Is(err, errNoConnection)
	s.server.polled(a, answered, !answered && connected())
	f.pollEnded(ctx, s, due, ok, err)
}

// errSlow is why a poll is given up before its time.
var errSlow = errors.New("the database does not answer in time, and other stores need the connection")

// pollEnded acts on the result of a poll: if there is work, the store waits for its time slice;
// otherwise it is polled again later.
func (f *Fleet) pollEnded(ctx context.Context, s *Store, due time.Duration, ok bool, err error) {
	slow := errors.Is(context.Cause(ctx), errSlow)
	switch {
	case ctx.Err() != nil && !slow:
		f.giveBack(s, 0) // it may have left
	case errors.Is(err, errNoConnection): // that is the fleet's, not the store's
		f.giveBack(s, engine.Jitter(f.opts.PollMin, 0.1))
	case err != nil && slow && !s.slowAgain(): // a busy machine, perhaps
		f.giveBack(s, engine.Jitter(f.opts.PollMin, 0.1))
	case err != nil && slow:
		f.giveBack(s, s.markFailed(errSlow))
	case err != nil:
		f.giveBack(s, s.markFailed(err))
	case ok && due <= 0:
		// It can be read, but may still fail when it is worked on: the time slice will
		// show whether it is healthy again.
		s.answered()
		s.foundWork()
		f.turns.enqueue(s)
	default:
		s.markHealthy()
		delay, cold := s.nextDelay(due, ok)
		if cold && f.workedOn() > f.opts.KeepReady {
			s.closeIdle()
		}
		f.giveBack(s, delay)
	}
}

// giveBack puts a store back into the timetable or, if it left meanwhile, closes it.
func (f *Fleet) giveBack(s *Store, delay time.Duration) {
	if !f.timetable.putBack(s, time.Now().Add(delay)) {
		f.closeStore(s)
	}
}

// leave removes a store from the fleet. Its current work is finished first.
func (f *Fleet) leave(s *Store) {
	f.share.mu.Lock()
	over := f.stopWorkLocked(s)
	f.share.mu.Unlock()
	if over {
		f.closeStore(s)
	}
}

// closeStore closes a store that left, unless it came back or only its work is another
// process's now.
func (f *Fleet) closeStore(s *Store) {
	if f.opts.Share != nil && f.registry.get(s.Key) == s {
		f.handedOver(s)
		return
	}
	if db := f.registry.detach(s); db != nil {
		if err := db.Close(); err != nil {
			s.log.Warn("could not close the store", "error", err)
		}
	}
}

// drained waits until the list was read and no store has anything due.
func (f *Fleet) drained(ctx context.Context) {
	for ctx.Err() == nil && !f.isDrained() {
		_ = engine.Sleep(ctx, soonDelay)
	}
}

// drainFailures is after how many failures, or time slices without result, a store no longer
// keeps a fleet from being drained.
const drainFailures = 3

func (f *Fleet) isDrained() bool {
	if read, _ := f.registry.state(); !read || !f.share.ready() || !f.turns.empty() {
		return false
	}
	for _, s := range f.registry.unsorted() {
		if !s.isOurs() {
			continue
		}
		s.mu.Lock()
		settled := s.emptyPolls > 1 || s.failures >= drainFailures || s.emptySlices >= drainFailures
		s.mu.Unlock()
		if !settled {
			return false
		}
	}
	return true
}

// entryHeap is a heap of polls to come.
type entryHeap []*entry

func (q entryHeap) Len() int           { return len(q) }
func (q entryHeap) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q entryHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q entryHeap) first() *entry {
	if len(q) == 0 {
		return nil
	}
	return q[0]
}

// Push implements heap.Interface.
func (q *entryHeap) Push(x any) {
	v := x.(*entry)
	v.index = len(*q)
	*q = append(*q, v)
}

// Pop implements heap.Interface.
func (q *entryHeap) Pop() any {
	old := *q
	v := old[len(old)-1]
	v.index = -1
	*q = old[:len(old)-1]
	return v
}
