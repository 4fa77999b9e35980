package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Every calls f at once and then every interval, until ctx ends, and reports its status on
// tracker. After an error it waits a fifth of the interval. early has it call f before the interval is
// over; nil: nothing does.
func Every(ctx context.Context, tracker *LoopTracker, interval time.Duration, early <-chan struct{}, f func(context.Context) error) {
	defer tracker.begin()()
	for {
		wait := interval
		if err := f(ctx); err != nil {
			tracker.failed(err)
			wait = interval / 5
		} else {
			tracker.succeeded(time.Now())
		}
		wait = engine.Jitter(wait, 0.1)
		tracker.iterate(wait)
		first := min(wait, time.Second) // a second is early enough
		if engine.Sleep(ctx, first) != nil {
			return
		}
		timer := time.NewTimer(wait - first)
		select {
		case <-ctx.Done():
		case <-early:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// AwaitReady calls try until it succeeds or fails with an error that is not engine.Temporary, which it
// returns: programs and databases that are started together come up in any order, and a file that was
// lost since it was opened may come back as well. It backs off 0.25 s … 30 s, with jitter (D-6).
// Without wait it does not wait for a server that takes no connections, and tries five times. When ctx
// ends it returns nil.
func AwaitReady(ctx context.Context, log *slog.Logger, wait bool, try func(context.Context) error) error {
	for failures := 1; ; failures++ {
		err := try(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Run notices the stop by itself
		case !engine.Temporary(err), !wait && (errors.Is(err, engine.ErrNotReady) || failures == engine.MaxAttempts):
			return err
		}
		delay := engine.Jitter(outageDelay(failures), 0.2)
		log.WarnContext(ctx, "waiting for the database to take connections", "error", engine.Line(err.Error()), "failures", failures, "delay", delay)
		_ = engine.Sleep(ctx, delay)
	}
}

// maxBackoff is the longest delay after failures; with jitter that is 30 s (D-6).
const maxBackoff = 25 * time.Second

// outageDelay returns how long to wait after so many failures of the database in a row.
func outageDelay(failures int) time.Duration {
	return min(250*time.Millisecond<<min(failures-1, 7), maxBackoff)
}
