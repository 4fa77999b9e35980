package worker

import (
	"context"
	"time"
)

// Suspects are items that came back from an expired lease: one of them may have ended its
// worker's process. See Gate for how they are handled.

// claimSuspects claims suspects. Nothing else is held by the loops of the gate then, and
// what was finished is settled, so that it is not lost with them.
func (l *Loop[M]) claimSuspects(ctx, handlers context.Context, n int) {
	owner := l.cfg.Tag.NewOwnerToken()
	sent := time.Now()
	items, err := l.cfg.Queue.ClaimSuspects(ctx, owner, l.cfg.Lease, n)
	if err != nil {
		l.member.setSuspects(false) // until a reap reports them again
		l.member.leave()
		l.failed(ctx, err)
		return
	}
	if l.stale(items) {
		_ = l.refreshPauses(ctx)
	}
	l.answered()
	l.stats.Tracker.succeeded(sent)
	l.member.setSuspects(len(items) > 0) // there may be more
	if len(items) > 0 {
		l.cfg.Logger.Info("handling alone what came back from an expired lease", "count", len(items))
	}
	l.accept(ctx, handlers, owner, sent, items)
}

// waitsForGate reports whether suspects, the loop's own or another's, have to be handled
// before the loop can tell whether anything is left to do.
func (l *Loop[M]) waitsForGate() bool {
	until, own := l.member.waitsUntil()
	return own || time.Until(until) > 0
}
