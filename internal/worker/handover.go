package worker

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Handover is a place in an idle loop for one item that is about to be written as claimed by
// it. The loop neither waits for it nor claims it, which saves the item two commits and a
// wake-up; if the process dies after the write, the item's lease expires like any other.
type Handover[M any] struct {
	loop  *Loop[M]
	Owner uuid.UUID
	Lease time.Duration
	sent  time.Time // when its write began
}

// Offer returns a place for an item of a topic; nil unless the loop sleeps, holds nothing, and
// may start the item at once. The place is to be given back by one of Accept, Withdraw and
// Unknown. It is safe for concurrent use.
func (l *Loop[M]) Offer(topic string) *Handover[M] {
	if l.cfg.StopEmpty || l.cfg.Slice.limited() || l.cfg.Paused != nil && l.cfg.Paused(topic) != NotPaused || l.cfg.Limited != nil && l.cfg.Limited(topic) {
		return nil
	}
	if !l.inflight.reserve() {
		return nil
	}
	if !l.member.enterBeside() {
		l.inflight.unreserve()
		return nil
	}
	return &Handover[M]{loop: l, Owner: l.cfg.Tag.NewOwnerToken(), Lease: l.cfg.Lease}
}

// Begin is called before each attempt to write the item: its lease counts from then.
func (h *Handover[M]) Begin() { h.sent = time.Now() }

// Accept starts the item, which is committed. It is false if the loop has ended: then the item
// has to be released.
func (h *Handover[M]) Accept(ctx context.Context, item Item[M]) bool {
	l := h.loop
	if !l.inflight.acceptReserved(h.Owner, h.sent.Add(h.Lease), item) {
		return false
	}
	l.claimed(1)
	l.cfg.Logger.DebugContext(ctx, "handed over", "count", 1, "owner_token", h.Owner.String())
	return true
}

// Withdraw gives the place back: the item was not written as claimed.
func (h *Handover[M]) Withdraw() { h.loop.inflight.unreserve() }

// Unknown gives the place back when it is not known whether the item was written. The loop
// releases it, should it be there: otherwise it would wait for its lease to expire.
func (h *Handover[M]) Unknown(id int64) {
	h.loop.inflight.releaseLater(Release{Held: Held{h.Owner, id}, NotStarted: true})
	h.Withdraw()
}

// reserve reserves a place for one item if the main cycle sleeps and nothing runs. While
// something runs items go to the database, where other processes find them too.
func (l *inflight[M]) reserve() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asleep || l.signalled || l.stopped || l.reserved || l.waiting+l.running > 0 {
		return false
	}
	l.reserved = true
	return true
}

// unreserve ends a reservation and wakes the main cycle, which leaves its gate.
func (l *inflight[M]) unreserve() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved = false
	l.signalLocked()
}

// acceptReserved is open for the item of a reservation; it is false after close.
func (l *inflight[M]) acceptReserved(owner uuid.UUID, deadline time.Time, item Item[M]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved = false
	if l.tasks.closed {
		return false
	}
	l.openLocked(l.handlers, owner, deadline, []Item[M]{item})
	return true
}

// releaseLater adds to the next settlement what may be held without being known.
func (l *inflight[M]) releaseLater(r Release) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unknown = append(l.unknown, r)
}

// sleeps records whether the main cycle sleeps with nothing to claim.
func (l *inflight[M]) sleeps(asleep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asleep = asleep
}
