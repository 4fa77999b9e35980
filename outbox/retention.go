package outbox

import (
	"context"

	"github.com/bravellian/pawl/work"
)

// cleanRuns bounds one transaction of the clean-up.
const cleanRuns = 200

// CleanUp deletes messages that were handled or discarded longer ago than the
// retention period and returns how many. Failed messages stay (D-25). Run does
// this by itself.
func (o *Outbox) CleanUp(ctx context.Context) (int64, error) {
	return work.PurgeNamed(ctx, o.db, "outbox/purge", o.opts.Retention, cleanRuns)
}
