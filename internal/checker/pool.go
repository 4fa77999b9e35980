package checker

import (
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// poolLook is what the pool of connections counted until a look.
type poolLook struct {
	at      time.Time
	waited  time.Duration
	waiting float64 // callers that waited since the look before, on average
}

// connections warns if more callers of this process wait for a connection than its pool has: claims
// and heartbeats wait with them. That some wait while a backlog is worked off is no fault.
func (c *Checker) connections() []health.Finding {
	stats := engine.PoolOf(c.cfg.DB)
	c.mu.Lock()
	defer c.mu.Unlock()
	if past := time.Since(c.pool.at); past >= c.cfg.Waiting { // before the first look: centuries
		c.pool = poolLook{time.Now(), stats.Waited, float64(stats.Waited-c.pool.waited) / float64(past)}
	}
	if stats.Max == 0 || c.pool.waiting <= float64(stats.Max) {
		return nil
	}
	return []health.Finding{warn("connections", fmt.Sprintf("%.0f callers of this process waited for one of the %d connections of its pool, on average of the last %s",
		c.pool.waiting, stats.Max, engine.Span(c.cfg.Waiting)), "give the pool more connections (pool_max_conns in the URL), or the process fewer handlers (pawl.Options.Concurrency)",
		fact("waiting", c.pool.waiting), fact("connections", stats.Max))}
}
