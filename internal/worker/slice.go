package worker

import (
	"sync/atomic"
	"time"
)

// Turn is how many loops share what there is of handlers and connections: each
// runs for a while, and then it may be another's turn. Both functions are asked
// again and again, by the loop's goroutine; nil ones never end a turn.
type TimeSlice struct {
	// Linger says how long to wait for more when there is nothing to do.
	IdleTimeout func() time.Duration
	// Continue is asked before every claim but the first that brought something; false
	// lets the loop finish what it holds and return.
	Continue func() bool
	// Over is shared by the loops of a turn, and set by the first of them that is
	// through: then it is over for all. Otherwise one that is busy would keep the
	// others' queues from being served. RunSlice sets it; nil: every loop for itself.
	Done *atomic.Bool
}

// Shared returns the turn for several loops that end together. Those of a turn that
// is not limited end each for itself.
func (t TimeSlice) Shared() TimeSlice {
	if t.Done == nil && t.limited() {
		t.Done = &atomic.Bool{}
	}
	return t
}

// limited reports whether the turn ever ends.
func (t *TimeSlice) limited() bool { return t.IdleTimeout != nil || t.Continue != nil }

// askIdle is how often Turn.Linger is asked.
const askIdle = 50 * time.Millisecond

// enough reports whether the loop is to finish what it holds and return: nothing
// came for a while, or others want a turn.
func (l *Loop[M]) enough() bool {
	if _, waits := l.seat.waits(); waits {
		return false
	}
	if l.claimedAny && l.cfg.Turn.Continue != nil && !l.cfg.Turn.Continue() {
		return true
	}
	polled := !l.moreWork || l.failures > 0
	if over := l.cfg.Turn.Done; over != nil && over.Load() && (l.claimedAny || polled) {
		return true
	}
	return l.cfg.Turn.IdleTimeout != nil && polled && l.unfinished.Len() == 0 && l.inflight.empty() && time.Since(l.lastActivity) >= l.cfg.Turn.IdleTimeout()
}
