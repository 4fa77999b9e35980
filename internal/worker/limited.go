package worker

import (
	"slices"
	"time"
)

// limited has the items of topics that share slots. They wait here for a slot, so that they
// take no handler from others meanwhile. The lock of inflight guards it.
type limited[M any] struct {
	slots    *Slots
	items    []waitingItem[M] // in order
	listed   bool             // among those that may have a free slot
	asked    bool             // it is notified when one is free
	freed    func()           // notifies it
	running  int              // here
	took     time.Duration    // how long an item has its slot, smoothed; 0: not known yet
	progress time.Time        // when one last got or gave back a slot, or began to wait
	away     int              // put back and not claimed again, about
	booked   time.Time        // when those will have been handled
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
			g.asked = false
			l.tasks.list(g)
		}
		l.limited[s] = g
	}
	return g
}

// counted reports whether items are among those that Config.Concurrency bounds, as those of
// topics without a limit are.
func (g *limited[M]) counted() bool { return g == nil || !g.slots.own }

// divideLocked takes the items of limited topics out of those of a claim that any worker may
// begin.
func (l *inflight[M]) divideLocked(c *claim[M]) {
	c.plain = make([]int, 0, len(c.items))
	for i := range c.items {
		slots := l.slotsOf(c.items[i].Topic)
		if slots == nil {
			c.plain = append(c.plain, i)
			continue
		}
		g := l.limitedBy(slots)
		if g.running+len(g.items) == 0 {
			g.progress = time.Now()
		}
		g.away = max(g.away-1, 0)
		g.items = append(g.items, waitingItem[M]{c, i})
		if len(g.items) <= g.allowed() {
			l.uncounted++
		}
		l.tasks.list(g)
	}
}

// allowed is how many items may wait for slots without keeping others from being claimed.
func (g *limited[M]) allowed() int { return 2 * g.slots.limit }

// relieveLocked puts back what will wait for its slot longer than what is claimed ahead
// should: until then it keeps others from being claimed, and other processes from having it.
func (l *inflight[M]) relieveLocked(now time.Time) {
	if l.keepAll || l.stopped {
		return
	}
	for _, g := range l.limited {
		took := max(g.took, 1)
		if g.running+len(g.items) > 0 { // none may have ended yet
			took = max(took, now.Sub(g.progress))
		}
		soon := max(g.allowed(), g.slots.limit*int(prefetchTime/took))
		for _, late := range g.items[min(soon, len(g.items)):] {
			l.putBackLocked(late, g.turn(now, took))
		}
		g.items = slices.Delete(g.items, min(soon, len(g.items)), len(g.items))
	}
}

const (
	// turnStep keeps what is put back together: each delay is a run of its own in the
	// database.
	turnStep = 250 * time.Millisecond
	// longestTurn bounds the delay, since slots may be free sooner than was thought: a few
	// items come back after shortestBound, more of them so that claims bring no more than
	// comingBack a second for nothing.
	longestTurn   = time.Minute
	shortestBound = 2 * time.Second
	comingBack    = 50
)

// turn returns when an item that is put back is to be claimed again: when those that were
// put back before it will have been handled, somewhat earlier since slots must not wait for
// it.
func (g *limited[M]) turn(now time.Time, took time.Duration) time.Duration {
	if g.booked.Before(now) {
		g.booked = now
	}
	g.away++
	g.booked = g.booked.Add(took * 4 / 5 / time.Duration(g.slots.limit))
	bound := min(max(time.Duration(g.away)*time.Second/comingBack, shortestBound), longestTurn)
	if latest := now.Add(bound); g.booked.After(latest) {
		g.booked = latest
	}
	return max(g.booked.Sub(now).Truncate(turnStep), turnStep)
}

// putBackLocked records that an item that waits for a slot is to be put back.
func (l *inflight[M]) putBackLocked(late waitingItem[M], delay time.Duration) {
	l.waiting--
	c := late.claim
	if c.states[late.index] == gone {
		return
	}
	c.states[late.index] = finished
	c.open--
	c.done = append(c.done, result{index: late.index, outcome: released, delay: delay, notStarted: true})
	if len(c.done) == 1 {
		c.first = time.Now()
	}
}

// takenLocked records that an item of a limited topic begins.
func (l *inflight[M]) takenLocked(g *limited[M]) {
	if len(g.items) < g.allowed() {
		l.uncounted--
	}
	if g.running++; g.running == 1 {
		g.progress = time.Now()
	}
}

// endedLocked records that one ended, and how long it had its slot; 0 if it had none.
func (l *inflight[M]) endedLocked(g *limited[M], took time.Duration) {
	g.running--
	if took > 0 {
		g.progress = time.Now()
		if g.took == 0 {
			g.took = took
		}
		g.took = max((7*g.took+took)/8, 1)
	}
}

// list lists what may have a free slot and has items.
func (q *tasks[M]) list(g *limited[M]) {
	if !g.listed && !g.asked && len(g.items) > 0 {
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
			g.asked = true
			continue
		}
		first := g.items[0]
		g.items = slices.Delete(g.items, 0, 1)
		q.list(g)
		t = task[M]{claim: first.claim, index: first.index, from: g, slot: !q.flush}
		if g.counted() {
			q.running++
		}
		return t, true
	}
	return t, false
}
