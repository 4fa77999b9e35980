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
	// cleanFirst spreads the processes that start together.
	cleanFirst = time.Minute
	// cleanEvery is how often to check for what can be deleted.
	cleanEvery = 10 * time.Minute
	// cleanLimit is how long a clean-up may take without counting as hanging: what
	// piled up in a month is deleted in as many transactions as it takes.
	cleanLimit = time.Hour
)

// KeepClean calls clean, which returns how much it deleted, from time to time
// until ctx ends, reporting its status on tracker. What goes wrong is logged and
// tried again next time, a missing table included (D-25).
func KeepClean(ctx context.Context, log *slog.Logger, tracker *LoopTracker, clean func(context.Context) (int64, error)) {
	defer tracker.begin()()
	for pause := cleanFirst; ; pause = cleanEvery {
		wait := engine.Jitter(pause, 0.5)
		tracker.turn(wait)
		if engine.Sleep(ctx, wait) != nil {
			return
		}
		tracker.turn(cleanLimit)
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

// Beat calls f at once and then every interval, until ctx ends, showing signs of
// life on tracker. After an error it comes again sooner.
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
		tracker.turn(wait)
		if engine.Sleep(ctx, wait) != nil {
			return
		}
	}
}

// Purge repeats a clean-up operation, which answers how much it deleted, until
// there is nothing left: each call is a transaction of bounded size. It returns
// how much that was, also with an error.
func Purge(ctx context.Context, db engine.DB, ask engine.Operation) (int64, error) {
	var total int64
	for {
		n, err := engine.Exec(ctx, db, nil, ask)
		if total += n; err != nil || n == 0 {
			return total, err
		}
	}
}

// Ready checks the schema before a Run begins, see Await.
func Ready(ctx context.Context, log *slog.Logger, db engine.DB) error {
	return Await(ctx, log, db.CheckSchema)
}

// Await tries to begin until the server takes connections: programs and databases that
// are started together come up in any order. A file that was lost since it was opened
// (engine.ErrFileLost) may come back as well. It backs off 0.25 s … 30 s, with jitter
// (D-6). Any other error ends it. A stop meanwhile is no error.
func Await(ctx context.Context, log *slog.Logger, try func(context.Context) error) error {
	for failures := 1; ; failures++ {
		err := try(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Run notices the stop by itself
		case !errors.Is(err, engine.ErrNotReady) && !errors.Is(err, engine.ErrFileLost):
			return err
		}
		pause := engine.Jitter(min(250*time.Millisecond<<min(failures-1, 7), longest), 0.2)
		log.WarnContext(ctx, "waiting for the database to take connections", "error", engine.Line(err.Error()), "failures", failures, "delay", pause)
		_ = engine.Sleep(ctx, pause)
	}
}

// RunKept runs a component's loop and, beside it, what keeps clean after it. That ends
// with the loop.
func RunKept(ctx context.Context, run func(context.Context) error, keep func(context.Context)) error {
	kept, stop := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { keep(kept) })
	defer keeper.Wait()
	defer stop()
	return run(ctx)
}
