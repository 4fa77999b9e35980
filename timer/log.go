package timer

import (
	"context"
	"log/slog"

	"github.com/bravellian/pawl/outbox"
)

func (t *Timers) logScheduled(ctx context.Context, timers []Timer, ids []ID) {
	if !t.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	first := &timers[0]
	if len(timers) > 1 {
		t.log.InfoContext(ctx, "timers scheduled", "count", len(timers), "topic", first.Topic, "correlation_id", first.CorrelationID)
		return
	}
	t.log.InfoContext(ctx, "timer scheduled", "topic", first.Topic, "correlation_id", first.CorrelationID, "timer_id", ids[0].String(), "timer", first.Key,
		"due", first.Due)
}

func (t *Timers) logFired(ctx context.Context, n int64) {
	if n > 0 {
		t.log.InfoContext(ctx, "timers fired", "count", n)
	}
}

func (t *Timers) logClaimed(ctx context.Context, owner outbox.OwnerToken, n int) {
	if n > 0 && t.log.Enabled(ctx, slog.LevelDebug) {
		t.log.DebugContext(ctx, "timers claimed", "count", n, "owner_token", owner.String())
	}
}

func (t *Timers) logReaped(ctx context.Context, n int64) {
	if n > 0 {
		t.log.InfoContext(ctx, "reaped expired leases of timers", "count", n)
	}
}
