package outbox

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/engine"
)

const (
	// cleanFirst spreads the processes that start together.
	cleanFirst = time.Minute
	// cleanEvery is how often to look for messages to forget.
	cleanEvery = 10 * time.Minute
	// cleanRuns bounds one transaction of the clean-up.
	cleanRuns = 200
)

// CleanUp deletes messages that were handled or discarded longer ago than the
// retention period and returns how many. Failed messages stay (D-25). Run does
// this by itself.
func (o *Outbox) CleanUp(ctx context.Context) (int64, error) {
	var total int64
	for {
		call := engine.Count("outbox/purge", o.opts.Retention, cleanRuns)
		if err := o.db.Do(ctx, call); err != nil {
			return total, err
		}
		total += call.N
		if call.N == 0 {
			return total, nil
		}
	}
}

// keepClean cleans up until ctx ends. What goes wrong is logged and tried
// again next time, a missing table included.
func (o *Outbox) keepClean(ctx context.Context) {
	for pause := cleanFirst; ; pause = cleanEvery {
		if engine.Pause(ctx, engine.Jitter(pause, 0.5)) != nil {
			return
		}
		n, err := o.CleanUp(ctx)
		level, text := slog.LevelInfo, "cleaned up"
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			level, text = slog.LevelWarn, "clean-up failed, will try again"
		case n == 0:
			continue
		}
		o.log.Log(ctx, level, text, "count", n, "error", err)
	}
}
