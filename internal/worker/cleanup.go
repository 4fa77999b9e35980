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

// Cleanup deletes from time to time what is older than a component's retention period.
type Cleanup struct {
	// Once deletes what is too old now and returns how much.
	Once func(context.Context) (int64, error)

	what    string // what is cleaned up, for the loop's status
	log     *slog.Logger
	tracker LoopTracker
}

// NewCleanup returns the clean-up of a component. once deletes what is too old and returns how
// much; what names it in the loop's status.
func NewCleanup(component, what string, log *slog.Logger, once func(context.Context) (int64, error)) *Cleanup {
	return &Cleanup{what: what, log: log.With("component", component), Once: once}
}

// Run cleans up every 5 to 15 minutes until ctx ends. Errors are logged and the clean-up is
// tried again next time, a missing table included (D-25).
func (c *Cleanup) Run(ctx context.Context) {
	defer c.tracker.begin()()
	for delay := cleanFirst; ; delay = cleanEvery {
		wait := engine.Jitter(delay, 0.5)
		c.tracker.iterate(wait)
		if engine.Sleep(ctx, wait) != nil {
			return
		}
		c.tracker.iterate(cleanLimit)
		n, err := c.Once(ctx)
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			c.tracker.failed(err)
			c.log.WarnContext(ctx, "clean-up failed, will try again", "count", n, "error", errorLine(err))
		default:
			c.tracker.succeeded(time.Now())
			if n > 0 {
				c.log.InfoContext(ctx, "cleaned up", "count", n)
			}
		}
	}
}

// Beside runs a component's loop and, concurrently, the clean-up, which ends with it.
func (c *Cleanup) Beside(ctx context.Context, run func(context.Context) error) error {
	cleaning, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { c.Run(cleaning) })
	defer background.Wait()
	defer stop()
	return run(ctx)
}

// Status returns the status of Run.
func (c *Cleanup) Status() LoopStatus { return c.tracker.Status("clean-up of " + c.what) }

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
