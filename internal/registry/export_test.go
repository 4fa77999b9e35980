package registry

import (
	"context"
	"time"
)

// Beat sends a heartbeat, some time after the one before.
func (r *Registry) Beat(ctx context.Context, after time.Duration) error {
	if !r.pool.at.IsZero() {
		r.pool.at = r.pool.at.Add(-after)
	}
	return r.beat(ctx, &Self{Name: "w"}, false)
}
