package worker

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// settleLimit is how long a stopping loop tries to settle what it finished, once its handlers
// have ended, or until the grace period is over; leases bring back the rest.
const settleLimit = 10 * time.Second

// settleRetry is the delay after a failed settlement while stopping.
const settleRetry = 250 * time.Millisecond

// afterCancel is how long handlers may take to return after their context was cancelled.
const afterCancel = 2 * time.Second

// stop ends the loop in order; see Run. The heartbeat still runs meanwhile.
func (l *Loop[M]) stop(cancelHandlers context.CancelCauseFunc) {
	l.inflight.halt()
	l.inflight.close() // workers end when they run out of tasks
	l.worker()         // they may all be busy: release what has not started
	began := time.Now()
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
	settling, end := context.WithTimeout(ctx, max(settleLimit, l.cfg.Grace-time.Since(began)))
	defer end()
	l.settle(settling)
	l.inflight.settleLost()
	l.notifyObservers()
}

// settleUntil settles what finishes until the workers ended (true) or limit is over (false).
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

// settle retries until everything is settled or ctx ends.
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
	_, err := l.cfg.Queue.Exchange(ctx, l.unfinished, ClaimRequest{Owner: uuid.New(), Lease: l.cfg.Lease})
	if err == nil {
		l.settled(sent)
	}
	return err
}
