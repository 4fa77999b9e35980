package outbox

import (
	"context"

	"github.com/bravellian/pawl/engine"
)

// cleanRuns bounds one transaction of the clean-up.
const cleanRuns = 200

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
