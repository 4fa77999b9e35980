package worker

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// claim is what one claim call returned, under one owner token. The lock of inflight
// guards the fields that change, but for the items: of those that have started, only the
// ID may be read by goroutines other than their workers'.
type claim[M any] struct {
	owner    uuid.UUID
	ctx      context.Context
	cancel   context.CancelCauseFunc
	items    []Item[M]
	contexts []itemContext // of the items
	plain    []int         // those that wait for no slot; nil: all
	states   []state
	deadline time.Time   // of the lease, by this process's clock, counted from before the request
	expiry   *time.Timer // expires the claim at its deadline, regardless of the database
	lost     bool
	started  int       // of those that wait for no slot
	open     int       // items that are not finished
	left     int       // items that are not gone
	done     []result  // not collected yet
	attempts []Attempt // the same for observers, if there are any
	first    time.Time // when the first of done finished
	frees    bool      // one of done was claimed under a limit of the database
}

// state is how far an item is.
type state byte

const (
	open     state = iota // waits for its handler, or is with it
	finished              // to be settled
	gone                  // settled, or given up
)

// open adds a claim and makes its items available as tasks.
func (l *inflight[M]) open(handlers context.Context, owner uuid.UUID, deadline time.Time, items []Item[M]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.openLocked(handlers, owner, deadline, items)
}

func (l *inflight[M]) openLocked(handlers context.Context, owner uuid.UUID, deadline time.Time, items []Item[M]) {
	n := len(items)
	c := &claim[M]{owner: owner, items: items, states: make([]state, n), deadline: deadline, open: n, left: n, done: make([]result, 0, n)}
	c.ctx, c.cancel = context.WithCancelCause(handlers)
	c.contexts = make([]itemContext, n)
	for i := range c.contexts {
		c.contexts[i].Context = c.ctx
	}
	c.expiry = time.AfterFunc(time.Until(deadline), func() { l.expire(c) })
	l.claims = append(l.claims, c)
	l.turns = slices.ContainsFunc(items, func(i Item[M]) bool { return i.InTurn })
	l.waiting += n
	if l.slotsOf != nil && !l.stopped {
		l.divideLocked(c)
	}
	l.tasks.put(c)
}

// ready returns how many items wait for no slot.
func (c *claim[M]) ready() int {
	if c.plain == nil {
		return len(c.items)
	}
	return len(c.plain)
}

// next returns the first of those that has not started.
func (c *claim[M]) next() (index int) {
	index = c.started
	if c.plain != nil {
		index = c.plain[index]
	}
	c.started++
	return index
}

// remove records that an item is no longer held.
func (c *claim[M]) remove(index int) {
	c.states[index] = gone
	c.left--
}

// unsettledLocked returns what is held.
func (c *claim[M]) unsettledLocked() (held []Held) {
	for i, state := range c.states {
		if state != gone {
			held = append(held, Held{c.owner, c.items[i].ID})
		}
	}
	return held
}
