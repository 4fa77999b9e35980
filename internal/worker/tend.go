package worker

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Pause says whether items of a topic may begin.
type PauseState int

// The states of a topic.
const (
	NotPaused   PauseState = iota
	QueuePaused            // items go back to where they were, which nobody claims from
	TopicPaused            // items are parked
)

// tendMax bounds how long a worker goes without reading what is paused: with
// jitter less than a second, in which it has to obey.
const tendMax = 750 * time.Millisecond

// keepTidy tends to the queue, over and over: it learns what is paused, and brings
// back what crashed workers held (D-12).
func (l *Loop[M]) maintain(ctx context.Context) {
	for failures := 0; ; {
		pause := min(min(l.cfg.PollMax, tendMax)<<min(failures, 5), max(longest, l.cfg.PollMax))
		if engine.Sleep(ctx, engine.Jitter(pause, 0.2)) != nil {
			return
		}
		waiting, running := l.inflight.holding()
		l.stats.holds(waiting+running, running)
		err := l.refreshPauses(ctx)
		if err == nil {
			err = l.reapAll(ctx)
		}
		switch {
		case err == nil:
			failures = 0
		case ctx.Err() == nil:
			failures++
			l.cfg.Logger.Warn("could not reap expired leases, will retry", "error", err, "failures", failures)
		}
	}
}

func (l *Loop[M]) refreshPauses(ctx context.Context) error {
	if l.cfg.Tend == nil {
		return nil
	}
	return l.cfg.Tend(ctx)
}

// paused says what a topic's pause makes of an item that was about to begin;
// ok is false if there is none.
func (l *Loop[M]) paused(topic string) (r result, ok bool) {
	if l.cfg.Paused == nil {
		return r, false
	}
	switch l.cfg.Paused(topic) {
	case QueuePaused:
		return result{outcome: released, fate: OutcomePaused, unbegun: true}, true
	case TopicPaused:
		return result{outcome: parked, fate: OutcomePaused, text: topic}, true
	}
	return r, false
}

// stale reports whether what is known of pauses has to be read again before
// items that were just claimed begin: what was parked may have come right back
// because the pause is over, a paused queue hands out nothing, and while the
// database was away it could not be read.
func (l *Loop[M]) stale(items []Item[M]) bool {
	return l.failures > 0 || len(l.unfinished.Parks) > 0 ||
		len(items) > 0 && l.cfg.Paused != nil && l.cfg.Paused(items[0].Topic) == QueuePaused
}

// reapAll reaps until nothing is left to, and notes whether suspects can be claimed.
func (l *Loop[M]) reapAll(ctx context.Context) error {
	for ctx.Err() == nil {
		n, suspects, err := l.cfg.Queue.Reap(ctx)
		if err != nil {
			return err
		}
		if n > 0 { // said before anybody handles it
			l.stats.reaped(n)
			l.cfg.Logger.Info("reaped expired leases", "count", n)
		}
		l.seat.want(suspects)
		if n == 0 {
			return nil
		}
		l.cfg.Observers.reaped(l.cfg.Name, n)
	}
	return ctx.Err()
}
