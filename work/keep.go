package work

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/bravellian/pawl/engine"
)

const (
	// cleanFirst spreads the processes that start together.
	cleanFirst = time.Minute
	// cleanEvery is how often to look for what can be forgotten.
	cleanEvery = 10 * time.Minute
)

// KeepClean calls clean, which returns how much it deleted, from time to time
// until ctx ends. What goes wrong is logged and tried again next time, a missing
// table included (D-25).
func KeepClean(ctx context.Context, log *slog.Logger, clean func(context.Context) (int64, error)) {
	for pause := cleanFirst; ; pause = cleanEvery {
		if engine.Pause(ctx, engine.Jitter(pause, 0.5)) != nil {
			return
		}
		n, err := clean(ctx)
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			log.WarnContext(ctx, "clean-up failed, will try again", "count", n, "error", errorLine(err))
		case n > 0:
			log.InfoContext(ctx, "cleaned up", "count", n)
		}
	}
}

// Purge repeats a clean-up operation, which answers how much it deleted, until
// there is nothing left: each call is a transaction of bounded size. It returns
// how much that was, also with an error.
func Purge(ctx context.Context, db engine.DB, op string, args ...any) (int64, error) {
	var total int64
	for {
		call := engine.Count(op, args...)
		if err := db.Do(ctx, call); err != nil {
			return total, err
		}
		total += call.N
		if call.N == 0 {
			return total, nil
		}
	}
}

// Ready checks the schema before a Run begins. A stop meanwhile is no error: Run
// will notice.
func Ready(ctx context.Context, db engine.DB) error {
	if err := db.CheckSchema(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// RunKept runs a component's loop and, beside it, its clean-up. The clean-up ends
// with the loop.
func RunKept(ctx context.Context, log *slog.Logger, run func(context.Context) error, clean func(context.Context) (int64, error)) error {
	keep, stop := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { KeepClean(keep, log, clean) })
	defer keeper.Wait()
	defer stop()
	return run(ctx)
}
