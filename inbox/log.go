package inbox

import (
	"context"
	"log/slog"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// logDelivery logs the result of a delivery; errors are returned to the caller instead.
func (i *Inbox) logDelivery(ctx context.Context, k *Key, verdict int64) {
	switch {
	case verdict == verdictTaken && i.log.Enabled(ctx, slog.LevelInfo):
		i.log.InfoContext(ctx, "processing", "source", k.Source, "source_message_id", k.MessageID)
	case verdict == verdictDone && i.log.Enabled(ctx, slog.LevelDebug):
		i.log.DebugContext(ctx, "delivered again, done already", "source", k.Source, "source_message_id", k.MessageID)
	}
}

// behindQueue is the inbox as its workers use it: they log deliveries and failures
// themselves.
func (i *Inbox) behindQueue(opts []outbox.HandlerOptions) *Inbox {
	silent := *i
	if len(opts) > 0 && opts[0].Retry != nil {
		silent.retry = worker.RetryPolicy(*opts[0].Retry)
	}
	silent.log = slog.New(slog.DiscardHandler)
	silent.resumes = true
	return &silent
}
