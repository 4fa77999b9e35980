package worker

import (
	"slices"
	"sync"
	"time"
)

// task is an item that a worker has taken.
type task[M any] struct {
	claim    *claim[M]
	index    int
	item     *Item[M]
	deadline time.Time // of its lease when it was taken
	late     bool      // the loop is stopping
	began    time.Time // when its handler did, zero if it did not
}

// release drops all that is only needed while a handler runs, which its worker
// may be idle for long after, and returns the claim.
func (t *task[M]) release() *claim[M] {
	var none M
	t.item.MessageID, t.item.Topic, t.item.Body = nil, "", none
	c := t.claim
	*t = task[M]{}
	return c
}

// tasks are the items that wait for a worker, and the workers that wait for an item.
// The lock of inflight guards them.
//
// A channel would do the same, at the price of two locks more for every item: with
// handlers that do nothing, 64 workers on 2 cores, a message took the loop 2.0 µs of
// processor time with it and 1.0 without (BenchmarkLoop of package metrics).
type tasks[M any] struct {
	claims  []*claim[M] // which have items that are not begun, in order
	more    sync.Cond
	idle    int  // workers that wait
	rousing bool // one of them is on its way
	closed  bool
}

// put adds the items of a claim.
func (q *tasks[M]) put(c *claim[M]) {
	q.claims = append(q.claims, c)
	q.wakeOne()
}

// wakeOne wakes a worker if there is something left to take; that one wakes the next.
// For quick handlers a few are enough, and waking is expensive.
func (q *tasks[M]) wakeOne() {
	if !q.rousing && q.idle > 0 && len(q.claims) > 0 {
		q.rousing = true
		q.more.Signal()
	}
}

// take waits for the next item; ok is false when no more will come.
func (q *tasks[M]) take() (c *claim[M], index int, ok bool) {
	for len(q.claims) == 0 {
		if q.closed {
			return nil, 0, false
		}
		q.idle++
		q.more.Wait()
		q.idle--
		q.rousing = false
	}
	c = q.claims[0]
	index = c.begun
	if c.begun++; c.begun == len(c.items) {
		q.claims = slices.Delete(q.claims, 0, 1)
	}
	q.wakeOne()
	return c, index, true
}

// close says that no more will come.
func (q *tasks[M]) close() {
	q.closed = true
	q.more.Broadcast()
}

// take waits for a worker's first task; ok is false when no more will come.
func (l *inflight[M]) nextTask() (t task[M], ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nextTaskLocked()
}

func (l *inflight[M]) nextTaskLocked() (t task[M], ok bool) {
	c, index, ok := l.tasks.take()
	if !ok {
		return t, false
	}
	l.waiting--
	l.running++ // finish takes it off again
	return task[M]{claim: c, index: index, item: &c.items[index], deadline: c.deadline, late: l.stopped}, true
}

// next enters a task's result and waits for the next one, as finishLocked and take do.
func (l *inflight[M]) next(c *claim[M], r result, a *Attempt) (t task[M], wanted, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wanted = l.finishLocked(c, r, a)
	t, ok = l.nextTaskLocked()
	return t, wanted, ok
}

// close ends the workers when they run out of tasks.
func (l *inflight[M]) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks.close()
}
