package worker

import (
	"context"
	"time"
)

// PauseState is whether items of a topic may start.
type PauseState int

// The states of a topic.
const (
	NotPaused   PauseState = iota
	QueuePaused            // items are released to their place in a queue that is not claimed from
	TopicPaused            // items are parked
)

// maintainInterval bounds how old a worker's knowledge of pauses is: with jitter less than
// a second, within which it must obey.
const maintainInterval = 750 * time.Millisecond

// maintain reads what is paused and reaps what crashed workers held (D-12), repeatedly
// until ctx ends.
func (l *Loop[M]) maintain(ctx context.Context) {
	for failures := 0; ; {
		delay := min(min(l.cfg.PollMax, maintainInterval)<<min(failures, 5), max(maxBackoff, l.cfg.PollMax))
		if l.rest(ctx, l.cfg.Jitter(delay, 0.2)) != nil {
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

// rest sleeps until the next maintenance is due, the database answers again, or ctx ends,
// whose error it then returns.
func (l *Loop[M]) rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.recovered:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (l *Loop[M]) refreshPauses(ctx context.Context) error {
	if l.cfg.RefreshPauses == nil {
		return nil
	}
	return l.cfg.RefreshPauses(ctx)
}

// paused returns the result of an item whose topic or queue is paused; ok is false if
// neither is.
func (l *Loop[M]) paused(topic string) (r result, ok bool) {
	if l.cfg.Paused == nil {
		return r, false
	}
	switch l.cfg.Paused(topic) {
	case QueuePaused:
		return result{outcome: released, reported: OutcomePaused, notStarted: true}, true
	case TopicPaused:
		return result{outcome: parked, reported: OutcomePaused, text: topic}, true
	}
	return r, false
}

// stale reports whether pauses have to be read again before items that were just claimed
// start: parked items may have come right back because the pause is over, a paused queue
// returns no items, and pauses cannot be read while the database does not answer.
func (l *Loop[M]) stale(items []Item[M]) bool {
	return l.failures > 0 || len(l.unfinished.Parks) > 0 ||
		len(items) > 0 && l.cfg.Paused != nil && l.cfg.Paused(items[0].Topic) == QueuePaused
}

// reapAll reaps until nothing is left, and records whether suspects can be claimed.
func (l *Loop[M]) reapAll(ctx context.Context) error {
	for ctx.Err() == nil {
		r, err := l.cfg.Queue.Reap(ctx)
		if err != nil {
			return err
		}
		if r.N > 0 { // logged before any of it is handled
			l.stats.reaped(r.N)
			l.cfg.Logger.Info("reaped expired leases", "count", r.N)
		}
		l.member.setSuspects(r.Suspects)
		l.inflight.stop(r.Stops)
		if r.N == 0 {
			return nil
		}
		l.cfg.Observers.reaped(l.cfg.Name, r.N)
	}
	return ctx.Err()
}
