package admin

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
)

// checkWorkers finds processes that crashed or lost the database.
func (e *examination) checkWorkers(ctx context.Context) ([]health.Finding, error) {
	list, err := inspect.ListWorkers(ctx, e.db)
	if err != nil {
		return nil, err
	}
	gone := list.Gone()
	if len(gone) == 0 {
		return one(health.OK, fmt.Sprintf("%d workers are alive", len(list)), ""), nil
	}
	var names []string
	for i := range gone[:min(len(gone), mentioned)] {
		names = append(names, fmt.Sprintf("%s (host %s, process %d)", gone[i].Name, gone[i].Host, gone[i].PID))
	}
	return one(health.Warning, fmt.Sprintf("%d of %d workers crashed or lost the database, the last %s ago: %s", len(gone), len(list), e.ago(&gone.Latest("").Heartbeat), engine.Listed(names, len(gone), mentioned)),
		"See their logs, and start them again. What they held comes back by itself; the list drops them after a day."), nil
}
