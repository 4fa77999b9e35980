package outbox

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// cleanRuns bounds one transaction of the clean-up.
const cleanRuns = 200

// CleanUp deletes messages that were handled or discarded longer ago than the
// retention period and returns how many. Failed messages stay (D-25). Run does
// this by itself. Bulk acts that ended longer ago are deleted, too.
func (o component) CleanUp(ctx context.Context) (int64, error) {
	if _, err := engine.Exec(ctx, o.db, nil, op.OutboxBulkPurge{Age: o.opts.Retention}); err != nil {
		return 0, err
	}
	return worker.Purge(ctx, o.db, op.OutboxPurge{Age: o.opts.Retention, Look: cleanRuns})
}
