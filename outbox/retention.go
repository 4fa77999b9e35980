package outbox

import (
	"context"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// cleanRuns bounds one transaction of the clean-up.
const cleanRuns = 200

// CleanUp deletes messages that were handled or discarded longer ago than the
// retention period and returns how many. Failed messages stay (D-25). Run does
// this by itself.
func (o *Outbox) CleanUp(ctx context.Context) (int64, error) {
	return worker.Purge(ctx, o.db, op.OutboxPurge{Age: o.opts.Retention, Look: cleanRuns})
}
