package outbox

import (
	"context"
	"log/slog"
)

// Frequent lines are only formatted if their level is enabled.

func (o *Outbox) logEnqueued(ctx context.Context, entries []*entry) {
	first := entries[0]
	if len(entries) > 1 {
		o.log.InfoContext(ctx, "enqueued batch", "count", len(entries), "topic", first.msg.Topic, "correlation_id", first.msg.CorrelationID)
		return
	}
	o.log.InfoContext(ctx, "enqueued", "topic", first.msg.Topic, "correlation_id", first.msg.CorrelationID, "message_id", first.mid.String())
}

// logClaimed logs claims of the program's own; the loop logs its own.
func (o *Outbox) logClaimed(ctx context.Context, owner OwnerToken, n int) {
	if n > 0 && o.log.Enabled(ctx, slog.LevelDebug) {
		o.log.DebugContext(ctx, "claimed", "count", n, "owner_token", owner.String())
	}
}

// logReaped is logClaimed for expired leases.
func (o *Outbox) logReaped(ctx context.Context, n int64) {
	if n > 0 {
		o.log.InfoContext(ctx, "reaped expired leases", "count", n)
	}
}
