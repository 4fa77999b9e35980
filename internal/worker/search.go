package worker

import (
	"context"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// phase is what a loop knows of work that it could claim. docs/architecture.md has a picture.
type phase int

const (
	claiming  phase = iota // there may be more: it claims as soon as there is room
	following              // the last claim brought items of lines, and nothing else is left
	quiet                  // the last claim brought all there was
	checking               // the waiter has subscribed: one more claim brings what was committed before that
	listening              // the waiter has subscribed, and nothing was left
)

// search is how far a loop is in its search for work.
type search struct {
	phase        phase
	nextPoll     time.Time // when to poll without a notification; zero: not decided
	idlePolls    int       // polls in a row that found nothing
	emptyClaim   bool      // the last claim found nothing while nothing was held
	claimedAny   bool      // a claim brought something
	lastActivity time.Time // when something last came or was settled
	uncommitted  bool      // the waiter could not subscribe: work that nobody tells of may be about to come
}

// claims reports whether the loop claims once there is room.
func (s *search) claims() bool { return s.phase == claiming || s.phase == checking }

// again records that there may be more to claim.
func (s *search) again() {
	switch s.phase {
	case following, quiet:
		s.phase = claiming
	case listening:
		s.phase = checking
	case claiming, checking:
	}
}

// claimed records a claim: whether there may be more, and whether it brought items of lines.
func (s *search) claimed(more, ordered bool) {
	switch {
	case more:
	case ordered:
		s.phase = following
	case s.phase == checking:
		s.phase = listening
	default:
		s.phase = quiet
	}
}

// longest returns how long wait may sleep, whatever it waits for.
func (l *Loop[M]) longest() time.Time {
	until := time.Now().Add(l.cfg.PollMax)
	if l.cfg.Slice.IdleTimeout != nil {
		until = time.Now().Add(min(idleCheckInterval, l.cfg.PollMax))
	}
	if due, ok := l.inflight.nextFlush(); ok {
		until = due
	}
	if again, ok := l.member.waitsUntil(); ok && again.Before(until) {
		until = again
	}
	return until
}

// wait sleeps until something finished, a notification came, or a poll is due.
func (l *Loop[M]) wait(ctx context.Context) {
	until := l.longest()
	switch l.search.phase {
	case claiming, checking: // but there is no room: wait for handlers
		l.sleepUntil(ctx, until)
		return
	case following: // a handler that ends soon brings the next claim: there is no need to subscribe
		l.search.phase = quiet
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if l.inflight.onSignal(cancel) {
			_ = engine.Sleep(ctx, l.cfg.FlushDelay) // on SQLite the ack before notified this worker of what it has claimed itself
		}
		return
	case quiet:
		l.search.phase = listening
		again, err := l.waiter.Subscribe(ctx)
		if l.search.uncommitted = errors.Is(err, engine.ErrUncommitted); err == nil && again {
			l.search.phase = checking
			return
		}
	case listening:
	}
	if l.search.nextPoll.IsZero() {
		l.search.nextPoll = time.Now().Add(l.pollAfter(ctx))
	}
	if l.search.nextPoll.Before(until) {
		until = l.search.nextPoll
	}
	l.inflight.sleeps(true)
	notified := l.sleepUntil(ctx, until)
	l.inflight.sleeps(false)
	if notified || !time.Now().Before(l.search.nextPoll) {
		if !notified {
			l.search.idlePolls++
		}
		l.search.phase, l.search.nextPoll = claiming, time.Time{}
	}
}

// sleepUntil sleeps until a signal of inflight, a notification or the given time, and
// reports whether it was a notification.
func (l *Loop[M]) sleepUntil(ctx context.Context, until time.Time) (notified bool) {
	d := time.Until(until)
	if d <= 0 {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !l.inflight.onSignal(cancel) {
		return false
	}
	return l.waiter.Sleep(ctx, d)
}

// maxDuePolls bounds the poll interval, to 1 ms << 10, while something is due that could not be
// claimed: it may wait for a place under a limit, which the database keeps for who polls. Or a
// producer's transaction is open.
const maxDuePolls = 10

// pollAfter returns how long to sleep without a notification: the poll interval grows while
// polls find nothing (OBX-122), but never past the next due time.
func (l *Loop[M]) pollAfter(ctx context.Context) time.Duration {
	d := min(l.cfg.PollMin<<min(l.search.idlePolls, 6), l.cfg.PollMax)
	d = max(l.cfg.Jitter(d, 0.1), time.Millisecond)
	soon := min(d, time.Millisecond<<min(l.search.idlePolls, maxDuePolls))
	if l.search.uncommitted {
		d = soon
	}
	sent := time.Now()
	due, ok, err := l.cfg.Queue.NextDue(ctx)
	due = remaining(sent, due)
	switch {
	case err != nil || !ok:
		return d
	case due <= 0: // but it was not claimed: it became due just now, or another transaction has it locked
		return soon
	}
	return min(d, due+time.Millisecond)
}
