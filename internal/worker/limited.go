package worker

import (
	"slices"
	"time"
)

// limited has the items of topics that share slots. They wait here for a slot, so that they
// take no handler from others meanwhile. The lock of inflight guards it.
type limited[M any] struct {
	slots  *Slots
	items  []waitingItem[M] // in order
	listed bool             // among those that may have a free slot
	freed  func()           // lists it again
	took   time.Duration    // how long an item has its slot, smoothed; 0: not known yet
	booked time.Time        // when what was put back will have been handled
}

// waitingItem is an item of a claim.
type waitingItem[M any] struct {
	claim *claim[M]
	index int
}

// limitedBy returns the items that share slots.
func (l *inflight[M]) limitedBy(s *Slots) *limited[M] {
	g := l.limited[s]
	if g == nil {
		g = &limited[M]{slots: s}
		g.freed = func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.tasks.list(g)
		}
		l.limited[s] = g
	}
	return g
}

// divideLocked takes the items of limited topics out of those of a claim that any worker may
// begin. What is more than can be used soon is put back for later, so that it keeps nobody
// else's items from being claimed.
func (l *inflight[M]) divideLocked(c *claim[M]) {
	c.plain = make([]int, 0, len(c.items))
	now := time.Now()
	for i := range c.items {
		slots := l.slotsOf(c.items[i].Topic)
		if slots == nil {
			c.plain = append(c.plain, i)
			continue
		}
		g := l.limitedBy(slots)
		if !l.keepAll && len(g.items) >= g.most() {
			l.putBackLocked(c, i, g.turn(now))
			continue
		}
		g.items = append(g.items, waitingItem[M]{c, i})
		l.waitingForSlots++
		l.tasks.list(g)
	}
}

// most returns how many items may wait for slots: as many again as run, and as many as are
// handled until more can have been claimed.
func (g *limited[M]) most() int {
	if g.took == 0 {
		return 2 * g.slots.limit
	}
	return g.slots.limit * int(max(prefetchTime/g.took, 2))
}

// ended records how long an item had its slot.
func (g *limited[M]) ended(took time.Duration) {
	if g.took == 0 {
		g.took = took
	}
	g.took = max((7*g.took+took)/8, 1)
}

const (
	// turnStep keeps what is put back together: each delay is a run of its own in the
	// database.
	turnStep = 250 * time.Millisecond
	// firstTurn is the delay while nothing is known.
	firstTurn = time.Second
	// longestTurn bounds the delay: another process may have slots free by then.
	longestTurn = time.Minute
)

// turn returns when an item that is put back is to be claimed again: when those that were
// put back before it will have been handled, somewhat earlier since slots must not wait for
// it.
func (g *limited[M]) turn(now time.Time) time.Duration {
	if g.took == 0 {
		return firstTurn
	}
	if g.booked.Before(now) {
		g.booked = now
	}
	g.booked = g.booked.Add(g.took * 4 / 5 / time.Duration(g.slots.limit))
	if latest := now.Add(longestTurn); g.booked.After(latest) {
		g.booked = latest
	}
	return max(g.booked.Sub(now).Truncate(turnStep), turnStep)
}

// putBackLocked records that an item of a new claim is to be put back.
func (l *inflight[M]) putBackLocked(c *claim[M], index int, delay time.Duration) {
	l.waiting--
	c.states[index] = finished
	c.open--
	c.done = append(c.done, result{index: index, outcome: released, delay: delay, notStarted: true})
	if len(c.done) == 1 {
		c.first = time.Now()
		l.signalLocked()
	}
}

// list lists what may have a free slot and has items.
func (q *tasks[M]) list(g *limited[M]) {
	if !g.listed && len(g.items) > 0 {
		g.listed = true
		q.limited = append(q.limited, g)
		q.wakeOne()
	}
}

// takeLimited takes the first item of a limited topic that has a free slot; those topics
// take turns. own: only topics whose slots come beside Config.Concurrency.
func (q *tasks[M]) takeLimited(own bool) (t task[M], ok bool) {
	for i := 0; i < len(q.limited); {
		g := q.limited[i]
		if own && !g.slots.own {
			i++
			continue
		}
		q.limited = slices.Delete(q.limited, i, i+1)
		g.listed = false
		if !q.flush && !g.slots.take(g.freed) {
			continue
		}
		first := g.items[0]
		g.items = slices.Delete(g.items, 0, 1)
		q.list(g)
		t = task[M]{claim: first.claim, index: first.index, from: g, slot: !q.flush}
		if t.counted() {
			q.running++
		}
		return t, true
	}
	return t, false
}
