package worker

import (
	"sync/atomic"
	"time"
)

// TimeSlice limits how long a loop runs, where many loops take turns with few handlers and
// connections. Both functions are called repeatedly by the loop's goroutine; a nil one
// never ends the slice.
type TimeSlice struct {
	// IdleTimeout returns how long to wait for more work when there is none.
	IdleTimeout func() time.Duration
	// Continue is called before every claim after the first that returned something; false
	// makes the loop finish what it holds and return.
	Continue func() bool
	// Done is shared by loops whose slices end together, and set by the first of them that
	// has nothing more to do; otherwise a busy loop would keep the others' queues from
	// being served. RunSlice sets it; nil: every loop ends by itself.
	Done *atomic.Bool
}

// Shared returns the time slice for several loops that end together. Loops of a slice
// without limits end each by itself.
func (t TimeSlice) Shared() TimeSlice {
	if t.Done == nil && t.limited() {
		t.Done = &atomic.Bool{}
	}
	return t
}

// limited reports whether the slice ever ends.
func (t *TimeSlice) limited() bool { return t.IdleTimeout != nil || t.Continue != nil }

// idleCheckInterval is how often TimeSlice.IdleTimeout is called.
const idleCheckInterval = 50 * time.Millisecond

// sliceDone reports whether the loop is to finish what it holds and return: it was idle for
// the timeout, or the slice is over.
func (l *Loop[M]) sliceDone() bool {
	if _, waits := l.member.waitsUntil(); waits {
		return false
	}
	if l.search.claimedAny && l.cfg.Slice.Continue != nil && !l.cfg.Slice.Continue() {
		return true
	}
	polled := !l.search.claims() || l.failures > 0
	if over := l.cfg.Slice.Done; over != nil && over.Load() && (l.search.claimedAny || polled) {
		return true
	}
	return l.cfg.Slice.IdleTimeout != nil && polled && l.unfinished.Len() == 0 && l.inflight.empty() && time.Since(l.search.lastActivity) >= l.cfg.Slice.IdleTimeout()
}
