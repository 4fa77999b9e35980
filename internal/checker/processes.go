package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
)

// maxAhead is by how much a worker's clock may differ from the database's.
const maxAhead = time.Second

// processes reports what live workers measure of themselves: clocks that differ from the database's, and
// pools of connections that are too small.
func processes(ctx context.Context, list listing) (found []health.Finding) {
	all, err := list()
	if err != nil {
		return []health.Finding{warn("processes", "the workers could not be looked up: "+cause(ctx, err, 0), "")}
	}
	all = all.Alive()
	for i := range all {
		w := &all[i]
		if w.ClockAhead.Abs() > maxAhead {
			found = append(found, engine.CodedFinding(health.Warning, "clock/"+w.Name, who(w)+": its clock is "+ahead(w.ClockAhead)+" the database's",
				"synchronize both machines' clocks (NTP): what it schedules comes early or late by as much", fact("ahead", seconds(w.ClockAhead))))
		}
		if w.Connections > 0 && w.Waiting > w.Connections {
			found = append(found, engine.CodedFinding(health.Warning, "connections/"+w.Name,
				fmt.Sprintf("%s: %d callers waited for one of the %d connections of its pool, on average of the last heartbeat", who(w), w.Waiting, w.Connections),
				"give the pool more connections (pool_max_conns in the URL), or the process fewer handlers (pawl.Options.Concurrency)",
				fact("waiting", w.Waiting), fact("connections", w.Connections)))
		}
	}
	return worstOf("processes", found, "of other workers: pawl workers")
}

func who(w *registry.Info) string {
	return fmt.Sprintf("worker %s (host %s, process %d)", w.Name, w.Host, w.PID)
}

func ahead(d time.Duration) string {
	if d < 0 {
		return engine.Span(-d) + " behind"
	}
	return engine.Span(d) + " ahead of"
}
