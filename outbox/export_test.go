package outbox

import (
	"context"

	"github.com/bravellian/pawl/internal/worker"
)

// Settle settles items as a worker's exchange with the database does.
func (o *Outbox) Settle(ctx context.Context, s *worker.Settlement) error {
	return o.db.Do(ctx, o.settleCalls(s)...)
}

// LookAt has one transaction of Redrive and its like look at n failed messages.
func (o *Outbox) LookAt(n int) { o.failedPage = n }
