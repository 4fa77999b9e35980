package worker

import (
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// heartbeat extends the leases of everything held (D-18) every third of the lease, a
// little earlier at random. Each claim has a timer on this process's clock too, so that
// handlers stop when their lease ends even if the database does not answer.
func (l *Loop[M]) heartbeat(ctx context.Context) {
	interval := l.cfg.Lease / 3
	retry := max(l.cfg.Lease/20, 20*time.Millisecond)
	for delay := interval; ; {
		if engine.Sleep(ctx, l.cfg.Jitter(delay*19/20, 0.05)) != nil {
			return
		}
		delay = interval
		if !l.extendLeases(ctx) {
			delay = retry
		}
	}
}

// extendLeases extends all leases that have run for a while, in one statement; ok is
// false if the database did not answer.
func (l *Loop[M]) extendLeases(ctx context.Context) (ok bool) {
	held, claims := l.inflight.dueForExtension(time.Now(), l.cfg.Lease)
	if len(held) == 0 {
		return true
	}
	sent := time.Now()
	n, err := l.cfg.Queue.Extend(ctx, held, l.cfg.Lease)
	if err != nil {
		l.cfg.Logger.Warn("could not extend leases", "count", len(held), "error", err)
		return false
	}
	if n == int64(len(held)) {
		l.inflight.extended(claims, sent.Add(l.cfg.Lease))
		return true
	}
	return l.findLost(ctx, claims)
}

// findLost extends claim by claim, to find those that were lost. Items may have been
// settled meanwhile; a claim is lost when none of its items is held any more.
func (l *Loop[M]) findLost(ctx context.Context, claims []*claim[M]) (ok bool) {
	for _, c := range claims {
		held := l.inflight.unsettled(c)
		if len(held) == 0 {
			continue
		}
		sent := time.Now()
		n, err := l.cfg.Queue.Extend(ctx, held, l.cfg.Lease)
		if err != nil {
			return false
		}
		if n == 0 && len(l.inflight.unsettled(c)) > 0 {
			l.inflight.lose(c)
			continue
		}
		l.inflight.extended([]*claim[M]{c}, sent.Add(l.cfg.Lease))
	}
	return true
}

// dueForExtension returns what is held by claims that have used a quarter of their lease.
func (l *inflight[M]) dueForExtension(now time.Time, lease time.Duration) (held []Held, claims []*claim[M]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.claims {
		if c.deadline.Sub(now) > lease*3/4 || c.lost {
			continue
		}
		held = append(held, c.unsettledLocked()...)
		claims = append(claims, c)
	}
	// Whichever are extended one by one: the most urgent one first.
	slices.SortStableFunc(claims, func(a, b *claim[M]) int { return a.deadline.Compare(b.deadline) })
	return held, claims
}

func (l *inflight[M]) unsettled(c *claim[M]) []Held {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.unsettledLocked()
}

func (l *inflight[M]) extended(claims []*claim[M], deadline time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range claims {
		if c.left > 0 {
			c.deadline = deadline
			c.expiry.Reset(time.Until(deadline))
		}
	}
}

// expire marks a claim lost whose lease is over by this process's clock.
func (l *inflight[M]) expire(c *claim[M]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.left > 0 && !time.Now().Before(c.deadline) {
		l.loseLocked(c)
	}
}

func (l *inflight[M]) lose(c *claim[M]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loseLocked(c)
}

func (l *inflight[M]) loseLocked(c *claim[M]) {
	if !c.lost {
		c.lost = true
		c.cancel(ErrLeaseLost)
		l.stats.lost()
	}
}
