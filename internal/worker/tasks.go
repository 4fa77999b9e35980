package worker

import (
	"slices"
	"sync"
	"time"
)

// task is an item that a worker has taken from the queue of tasks.
type task[M any] struct {
	claim    *claim[M]
	index    int
	item     *Item[M]
	deadline time.Time // of its lease when it was taken
	late     bool      // the loop is stopping
	started  time.Time // when its handler started; zero if it did not
}

// release clears what is only needed while a handler runs, since its worker may be idle
// for long afterwards, and returns the claim.
func (t *task[M]) release() *claim[M] {
	var none M
	t.item.MessageID, t.item.Topic, t.item.Body = nil, "", none
	c := t.claim
	*t = task[M]{}
	return c
}

// tasks is the queue of items that wait for a worker. The lock of inflight guards it.
//
// A channel would do the same, but takes two more locks for every item: with handlers that
// do nothing, 64 workers on 2 cores, a message took the loop 2.0 µs of processor time with
// it and 1.0 without (BenchmarkLoop of package metrics).
type tasks[M any] struct {
	claims    []*claim[M] // which have items that are not started, in order
	available sync.Cond
	idle      int  // workers that wait
	waking    bool // one of them was woken and has not run yet
	closed    bool
}

// put adds the items of a claim.
func (q *tasks[M]) put(c *claim[M]) {
	q.claims = append(q.claims, c)
	q.wakeOne()
}

// wakeOne wakes a worker if there is something left to take; that one wakes the next.
// For quick handlers a few workers are enough, and waking is expensive.
func (q *tasks[M]) wakeOne() {
	if !q.waking && q.idle > 0 && len(q.claims) > 0 {
		q.waking = true
		q.available.Signal()
	}
}

// take waits for the next item; ok is false after close, when none is left.
func (q *tasks[M]) take() (c *claim[M], index int, ok bool) {
	for len(q.claims) == 0 {
		if q.closed {
			return nil, 0, false
		}
		q.idle++
		q.available.Wait()
		q.idle--
		q.waking = false
	}
	c = q.claims[0]
	index = c.started
	if c.started++; c.started == len(c.items) {
		q.claims = slices.Delete(q.claims, 0, 1)
	}
	q.wakeOne()
	return c, index, true
}

// close makes take return false once no item is left.
func (q *tasks[M]) close() {
	q.closed = true
	q.available.Broadcast()
}

// nextTask waits for a worker's first task; ok is false when none will follow.
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
	l.running++ // finishLocked decrements it
	return task[M]{claim: c, index: index, item: &c.items[index], deadline: c.deadline, late: l.stopped}, true
}

// next records a task's result and waits for the next task, as finishLocked and nextTask do.
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
