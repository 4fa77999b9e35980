package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/registry"
)

// checkWorkers finds processes that crashed or lost the database.
func (e *examination) checkWorkers(ctx context.Context) ([]health.Finding, error) {
	list, err := registry.List(ctx, e.db)
	if err != nil {
		return nil, err
	}
	var gone []string
	var last time.Time
	dead := 0
	for i := range list {
		w := &list[i]
		if w.Alive {
			continue
		}
		dead++
		if w.Heartbeat.After(last) {
			last = w.Heartbeat
		}
		if len(gone) < mentioned {
			gone = append(gone, fmt.Sprintf("%s (host %s, process %d)", w.Name, w.Host, w.PID))
		}
	}
	if dead == 0 {
		return one(health.OK, fmt.Sprintf("%d workers show that they are alive", len(list)), ""), nil
	}
	evidence := fmt.Sprintf("%d of %d workers went without a word, the last %s ago: %s", dead, len(list), e.ago(&last), listed(gone, dead))
	return one(health.Warning, evidence,
		"They crashed or lost the database: see their logs, and start them again. What they held comes back by itself; the list drops them after a day."), nil
}
