package fleet

import (
	"container/heap"
	"sync"
	"time"
)

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
