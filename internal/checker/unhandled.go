package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/registry"
)

// unhandled warns of topics that nobody has a handler for, as far as this process
// knows: their messages came here. They are retried with delays and lost to nobody,
// and another process may get its handler with the next release: no failure.
func (c *Checker) unhandled(ctx context.Context) []health.Finding {
	if c.cfg.Unhandled == nil {
		return nil
	}
	topics := c.cfg.Unhandled()
	if len(topics) == 0 {
		return []health.Finding{ok("unhandled", "every message that came here had a handler")}
	}
	if c.cfg.Workers != nil {
		if all, err := c.cfg.Workers.List(ctx); err == nil {
			topics = slices.DeleteFunc(topics, func(topic string) bool { return handled(all, topic) })
		}
	}
	if all, err := pause.New(c.cfg.DB, nil).List(ctx); err == nil {
		topics = slices.DeleteFunc(topics, func(topic string) bool { return topicPaused(all, topic) })
	}
	if len(topics) == 0 {
		return []health.Finding{ok("unhandled", "messages came here that other workers have handlers for, or whose topic is paused")}
	}
	text := strings.Join(topics[:min(len(topics), few)], ", ")
	if len(topics) > few {
		text += fmt.Sprintf(" and %d more", len(topics)-few)
	}
	return []health.Finding{warn("unhandled", "no worker that is alive has a handler for messages of topic "+text+"; they are put back again and again",
		"start a worker that has one, in their queue", fact("topics", len(topics)))}
}

// topicPaused reports whether a topic is paused, so that its messages do not come back.
func topicPaused(all []pause.Pause, topic string) bool {
	return slices.ContainsFunc(all, func(p pause.Pause) bool { return p.Kind == pause.Topic && p.Name == topic && !p.Ending })
}

func handled(all []registry.Info, topic string) bool {
	return slices.ContainsFunc(all, func(w registry.Info) bool { return w.Alive && w.Handles(topic) })
}

// servers are the workers that serve a line: those that were heard of since the work
// became due. One that shares its time among databases counts as alive for a day, but
// it would have come by.
func servers(all []registry.Info, l *line) []registry.Info {
	var live []registry.Info
	for _, w := range all {
		if w.Alive && w.Heartbeat.UnixMicro() > l.oldest.at && (l.kind != kindQueue || slices.Contains(w.Queues, l.queue)) {
			live = append(live, w)
		}
	}
	return live
}
