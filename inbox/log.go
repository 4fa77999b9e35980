package inbox

import (
	"context"
	"log/slog"
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

// behindQueue returns the inbox for its workers, which log deliveries and failures themselves.
func (i *Inbox) behindQueue() *Inbox {
	silent := *i
	silent.log = slog.New(slog.DiscardHandler)
	silent.resumes = true
	return &silent
}
