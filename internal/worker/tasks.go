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
	from     *limited[M] // of a topic with a limit; nil for others
	slot     bool        // it has one of from
	deadline time.Time   // of its lease when it was taken
	late     bool        // the loop is stopping
	started  time.Time   // when its handler started; zero if it did not
}

// ctx returns the context of the item's handler.
func (t *task[M]) ctx() *itemContext { return &t.claim.contexts[t.index] }

// release clears what is only needed while a handler runs, since its worker may be idle
// for long afterwards, and gives its slot back.
func (t *task[M]) release() (done ended[M]) {
	var none M
	t.item.MessageID, t.item.Topic, t.item.Body = nil, "", none
	done = ended[M]{claim: t.claim, from: t.from}
	if t.slot {
		t.from.slots.free()
		if !t.started.IsZero() {
			done.took = time.Since(t.started)
		}
	}
	*t = task[M]{}
	return done
}

// ended is what is left of a task whose handler has returned.
type ended[M any] struct {
	claim *claim[M]
	from  *limited[M]
	took  time.Duration // with its slot
}

// tasks is the queue of items that wait for a worker. The lock of inflight guards it.
//
// A channel would do the same, but takes two more locks for every item: with handlers that
// do nothing, 64 workers on 2 cores, a message took the loop 2.0 µs of processor time with
// it and 1.0 without (BenchmarkLoop of package metrics).
type tasks[M any] struct {
	claims    []*claim[M]   // which have items that are not started, in order
	limited   []*limited[M] // which have items and may have a free slot, in turn
	available sync.Cond
	idle      int  // workers that wait
	waking    bool // one of them was woken and has not run yet
	turn      bool // limited items come first
	flush     bool // slots do not matter: nothing begins any more
	closed    bool
	most      int // items that run at once without slots of their own
	running   int // those
}

// put adds the items of a claim that need no slot.
func (q *tasks[M]) put(c *claim[M]) {
	if c.ready() > 0 {
		q.claims = append(q.claims, c)
		q.wakeOne()
	}
}

// wakeOne wakes a worker if there is something left to take; that one wakes the next.
// For quick handlers a few workers are enough, and waking is expensive.
func (q *tasks[M]) wakeOne() {
	if !q.waking && q.idle > 0 && len(q.claims)+len(q.limited) > 0 {
		q.waking = true
		q.available.Signal()
	}
}

// take waits for the next item; ok is false after close, when none is left.
func (q *tasks[M]) take() (t task[M], ok bool) {
	for {
		if t, ok = q.pick(); ok {
			q.wakeOne()
			return t, true
		}
		if q.closed {
			return t, false
		}
		q.idle++
		q.available.Wait()
		q.idle--
		q.waking = false
	}
}

// pick takes the next item, of limited topics and of others in turn.
func (q *tasks[M]) pick() (t task[M], ok bool) {
	full := q.running >= q.most && !q.flush
	if q.turn || len(q.claims) == 0 || full {
		q.turn = false
		if t, ok = q.takeLimited(full); ok {
			return t, true
		}
	}
	if len(q.claims) == 0 || full {
		return t, false
	}
	q.turn = true
	c := q.claims[0]
	t = task[M]{claim: c, index: c.next()}
	if c.started == c.ready() {
		q.claims = slices.Delete(q.claims, 0, 1)
	}
	q.running++
	return t, true
}

// end makes items available that wait for slots: none of them begins any more.
func (q *tasks[M]) end(all map[*Slots]*limited[M]) {
	q.flush = true
	for _, g := range all {
		g.asked = false
		q.list(g)
	}
	q.available.Broadcast()
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
	t, ok = l.tasks.take()
	if !ok {
		return t, false
	}
	l.waiting--
	if t.from != nil {
		l.takenLocked(t.from)
	}
	l.running++ // finishLocked decrements it
	t.item, t.deadline, t.late = &t.claim.items[t.index], t.claim.deadline, l.stopped
	return t, true
}

// next records a task's result and waits for the next task, as finishLocked and nextTask do.
func (l *inflight[M]) next(done ended[M], r result, a *Attempt) (t task[M], wanted, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wanted = l.finishLocked(done, r, a)
	t, ok = l.nextTaskLocked()
	return t, wanted, ok
}

// close ends the workers when they run out of tasks.
func (l *inflight[M]) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks.close()
}
