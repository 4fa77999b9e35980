package worker

import (
	"context"
	"time"
)

// Suspects are what came back from an expired lease: one of them may have killed
// its worker. See Gate for how they are handled.

// claimSuspects claims suspects; nothing else is held behind the gate, and what was
// finished is settled, so that it does not depend on them.
func (l *Loop[M]) claimSuspects(ctx, handlers context.Context, n int) {
	owner := l.cfg.Tag.NewOwnerToken()
	sent := time.Now()
	items, err := l.cfg.Queue.ClaimSuspects(ctx, owner, l.cfg.Lease, n)
	if err != nil {
		l.seat.want(false) // until the database is back, and says so
		l.seat.leave()
		l.failed(ctx, err)
		return
	}
	if l.stale(items) {
		_ = l.refreshPauses(ctx)
	}
	l.failures = 0
	l.stats.Tracker.succeeded(sent)
	l.seat.want(len(items) > 0) // and maybe there are more
	if len(items) > 0 {
		l.cfg.Logger.Info("handling alone what came back from an expired lease", "count", len(items))
	}
	l.accept(ctx, handlers, owner, sent, items)
}

// waitsForGate reports whether the loop has to wait for suspects, its own or
// another loop's, before it knows that nothing is left to do.
func (l *Loop[M]) waitsForGate() bool {
	until, own := l.seat.waits()
	return own || time.Until(until) > 0
}
