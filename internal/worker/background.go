package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	// cleanFirst is the mean delay of the first clean-up, spread over processes that
	// start together.
	cleanFirst = time.Minute
	// cleanEvery is how often to check for what can be deleted.
	cleanEvery = 10 * time.Minute
	// cleanLimit is how long a clean-up may take before the loop counts as hanging: what
	// piled up in a month is deleted in as many transactions as it takes.
	cleanLimit = time.Hour
)

// RunCleanup calls clean, which returns how much it deleted, every 5 to 15 minutes until
// ctx ends, and reports its status on tracker. Errors are logged and the clean-up is tried
// again next time, a missing table included (D-25).
func RunCleanup(ctx context.Context, log *slog.Logger, tracker *LoopTracker, clean func(context.Context) (int64, error)) {
	defer tracker.begin()()
	for delay := cleanFirst; ; delay = cleanEvery {
		wait := engine.Jitter(delay, 0.5)
		tracker.iterate(wait)
		if engine.Sleep(ctx, wait) != nil {
			return
		}
		tracker.iterate(cleanLimit)
		n, err := clean(ctx)
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			tracker.failed(err)
			log.WarnContext(ctx, "clean-up failed, will try again", "count", n, "error", errorLine(err))
		default:
			tracker.succeeded(time.Now())
			if n > 0 {
				log.InfoContext(ctx, "cleaned up", "count", n)
			}
		}
	}
}

// Every calls f at once and then every interval, until ctx ends, and reports its status on
// tracker. After an error it waits a fifth of the interval.
func Every(ctx context.Context, tracker *LoopTracker, interval time.Duration, f func(context.Context) error) {
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
		if engine.Sleep(ctx, wait) != nil {
			return
		}
	}
}

// Purge repeats a clean-up operation, which returns how much it deleted, until it deletes
// nothing: each call is a transaction of bounded size. It returns the total, also with an
// error.
func Purge(ctx context.Context, db engine.DB, operation engine.Operation) (int64, error) {
	var total int64
	for {
		n, err := engine.Exec(ctx, db, nil, operation)
		if total += n; err != nil || n == 0 {
			return total, err
		}
	}
}

// AwaitSchema checks the schema before a Run, with AwaitReady.
func AwaitSchema(ctx context.Context, log *slog.Logger, db engine.DB) error {
	return AwaitReady(ctx, log, db.CheckSchema)
}

// AwaitReady calls try until the database takes connections: programs and databases that
// are started together come up in any order. A file that was lost since it was opened
// (engine.ErrFileLost) may come back as well. It backs off 0.25 s … 30 s, with jitter
// (D-6). Any other error is returned. When ctx ends it returns nil.
func AwaitReady(ctx context.Context, log *slog.Logger, try func(context.Context) error) error {
	for failures := 1; ; failures++ {
		err := try(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Run notices the stop by itself
		case !errors.Is(err, engine.ErrNotReady) && !errors.Is(err, engine.ErrFileLost):
			return err
		}
		delay := engine.Jitter(min(250*time.Millisecond<<min(failures-1, 7), maxBackoff), 0.2)
		log.WarnContext(ctx, "waiting for the database to take connections", "error", engine.Line(err.Error()), "failures", failures, "delay", delay)
		_ = engine.Sleep(ctx, delay)
	}
}

// RunWithCleanup runs a component's loop and, concurrently, its clean-up loop, which ends
// with it.
func RunWithCleanup(ctx context.Context, run func(context.Context) error, cleanup func(context.Context)) error {
	cleaning, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { cleanup(cleaning) })
	defer background.Wait()
	defer stop()
	return run(ctx)
}
