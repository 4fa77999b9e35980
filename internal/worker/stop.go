package worker

import (
	"context"
	"time"
)

// settleLimit is how long a stopping loop tries to report to the database what it
// did; leases bring back the rest.
const settleLimit = 10 * time.Second

// settleRetry is the pause after a failed try meanwhile.
const settleRetry = 250 * time.Millisecond

// afterCancel is how long handlers may take to notice that they were cancelled.
const afterCancel = 2 * time.Second

// stop ends the loop in order; see Run. The heartbeat still runs meanwhile.
func (l *Loop[M]) stop(cancelHandlers context.CancelCauseFunc) {
	l.inflight.halt()
	l.inflight.close() // workers end when they run out of tasks
	l.worker()         // which they may be too busy for: hand back what was not begun
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Grace+afterCancel+settleLimit)
	defer cancel()

	ended := make(chan struct{})
	go func() {
		l.workers.Wait()
		close(ended)
	}()
	if !l.settleUntil(ctx, ended, l.cfg.Grace) {
		cancelHandlers(ErrStopping)
		if !l.settleUntil(ctx, ended, afterCancel) {
			_, running := l.inflight.holding()
			l.cfg.Logger.Error("handlers did not return after the grace period, their items were released", "count", running)
			l.inflight.collect(l.unfinished, time.Now(), true)
			l.inflight.abandonRunning(l.unfinished)
		}
	}
	l.inflight.collect(l.unfinished, time.Now(), true)
	l.settle(ctx)
	l.inflight.giveUp() // of what the database did not take
	l.notifyObservers()
}

// settleUntil settles what finishes until the workers ended (true) or limit is over.
func (l *Loop[M]) settleUntil(ctx context.Context, ended <-chan struct{}, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(max(l.cfg.FlushDelay, time.Millisecond))
	defer tick.Stop()
	for next := time.Now(); ; {
		select {
		case <-ended:
			return true
		case <-ctx.Done():
			return false
		case now := <-tick.C:
			if now.Before(next) {
				continue
			}
			l.inflight.collect(l.unfinished, now, false)
			if l.settleOnce(ctx) != nil {
				next = time.Now().Add(settleRetry)
			}
		}
	}
}

// settle keeps trying until the database has everything or ctx ends.
func (l *Loop[M]) settle(ctx context.Context) {
	for ctx.Err() == nil {
		err := l.settleOnce(ctx)
		if err == nil {
			return
		}
		l.failed(ctx, err)
	}
}

func (l *Loop[M]) settleOnce(ctx context.Context) error {
	if l.unfinished.Len() == 0 {
		l.inflight.settledByHandlers()
		return nil
	}
	sent := time.Now()
	_, err := l.cfg.Queue.Exchange(ctx, l.unfinished, NewOwnerToken(), l.cfg.Lease, 0)
	if err == nil {
		l.settled(sent)
	}
	return err
}
