package outbox

import (
	"cmp"
	"context"
	"slices"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
)

// Erase removes what messages say, for those who must: payload, headers, correlation id, unique key, errors,
// results, and the steps and signals of flows. Their ids, topics and times are kept for the retention period.
// What waits is cancelled first, and what failed is discarded; nothing erased runs again. Messages that a
// worker holds are left alone: see CancelRunning. Blobs, timers, the inbox and metadata of joins are not
// touched; databases keep what was deleted in backups and logs. The audit trail has the positions and
// the reason. It returns how many it erased, also with an error.
func (o *Outbox) Erase(ctx context.Context, reason string, ids ...Position) (int64, error) {
	if err := engine.CheckText("reason", reason, limits.Reason, false); err != nil {
		return 0, err
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return o.eachChunk(audit.WithReason(ctx, reason), audit.Erase, these(ids), ids, func(ids []int64, note op.Note) engine.Operation {
		return op.OutboxErase{IDs: ids, Reason: cmp.Or(reason, "erased"), Note: note}
	})
}

// EraseCorrelated is Erase of all messages with a correlation id; the parts of a flow and the flows that it
// called have that of the flow or, if it has none, its id. It reads all messages of the database. left is how
// many it left alone because a worker held them: it is to be called again.
func (o *Outbox) EraseCorrelated(ctx context.Context, reason, correlationID string) (erased, left int64, err error) {
	if err := engine.CheckText("correlation id", correlationID, limits.CorrelationID, true); err != nil {
		return 0, 0, err
	}
	for {
		var ids []Position
		for m, err := range o.List(ctx, ListOptions{CorrelationID: correlationID, NoPayload: true}) {
			if err != nil {
				return erased, left, err
			}
			ids = append(ids, m.Position)
		}
		n, err := o.Erase(ctx, reason, ids...)
		erased, left = erased+n, int64(len(ids))-n
		if err != nil || n == 0 { // some may have come, or ended, meanwhile
			return erased, left, err
		}
	}
}
