package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// bulk warns of bulk acts whose next step has been due for long: nobody works, or every step fails.
func bulk(ctx context.Context, db engine.DB, list listing, o *health.Options) (found []health.Finding) {
	late, err := engine.Query(ctx, db, op.OutboxBulkDue{Late: o.Waiting, Most: few})
	who, next := "no worker is alive", "start a worker"
	if err == nil && len(late) > 0 {
		all, failure := list()
		if err = failure; len(all.Alive()) > 0 {
			who, next = "workers are alive and should", "see what they log"
		}
	}
	if err != nil {
		return []health.Finding{problem("bulk", "bulk acts could not be looked up: "+cause(ctx, err, 0), "")}
	}
	for i := range late {
		b := &late[i]
		state := "stored, and no worker has worked on it yet"
		if b.SteppedAt != nil {
			state = fmt.Sprintf("%d of %d done, and no progress since %s", b.N, b.Total, b.SteppedAt.UTC().Format(time.RFC3339))
		}
		found = append(found, warn("bulk", fmt.Sprintf("%s of %s by %s, since %s: %s; %s", b.Action, b.Target, b.Actor, b.CreatedAt.UTC().Format(time.RFC3339), state, who), next,
			fact("id", uuid.UUID(b.ID).String()), fact("changed", b.N), fact("total", b.Total)))
	}
	return found
}
