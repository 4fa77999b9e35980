package checker

import (
	"context"
	"slices"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/pause"
)

// unhandled warns of topics that nobody has a handler for, as far as this process
// knows: their messages came here. They are retried with delays and lost to nobody,
// and another process may get its handler with the next release: no failure.
func (c *Checker) unhandled(ctx context.Context, list listing) []health.Finding {
	if c.cfg.Unhandled == nil {
		return nil
	}
	topics := c.cfg.Unhandled()
	if len(topics) == 0 {
		return []health.Finding{ok("unhandled", "every message that came here had a handler")}
	}
	if all, err := list(); err == nil {
		topics = slices.DeleteFunc(topics, func(topic string) bool { return len(all.Handling(topic)) > 0 })
	}
	if hold, _, err := inspect.Paused(ctx, c.cfg.DB); err == nil { // their messages do not come back
		topics = slices.DeleteFunc(topics, func(topic string) bool {
			return slices.ContainsFunc(hold, func(p pause.Pause) bool { return p.Kind == pause.Topic && p.Name == topic })
		})
	}
	if len(topics) == 0 {
		return []health.Finding{ok("unhandled", "messages came here that other workers have handlers for, or whose topic is paused")}
	}
	return []health.Finding{warn("unhandled", "no worker that is alive has a handler for messages of topic "+engine.Listed(topics, len(topics), few)+"; they are put back again and again",
		"start a worker that has one, in their queue", fact("topics", len(topics)))}
}
