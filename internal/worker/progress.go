package worker

import (
	"context"
	"time"
)

// Progress is how far a handler said that it is with an item.
type Progress struct {
	Position int64     `json:"position"`
	Done     float64   `json:"done"` // 0 … 1
	Note     string    `json:"note,omitempty"`
	At       time.Time `json:"at"` // by the process's clock
}

type progressKey struct{}

// SetProgress notes how far the handler of a context is, for the next heartbeat of its process. It is
// false for a context that is no single item's.
func SetProgress(ctx context.Context, p Progress) bool {
	c, ok := ctx.Value(progressKey{}).(*itemContext)
	if ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.progress = &p
	}
	return ok
}

// progressOf returns what the handler of an item has said last, nil for nothing.
func (c *itemContext) progressOf() *Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.progress
}

// Progress returns what the handlers that run have said.
func (l *Loop[M]) Progress() (all []Progress) {
	l.inflight.mu.Lock()
	defer l.inflight.mu.Unlock()
	for _, c := range l.inflight.claims {
		for i := range c.contexts {
			if p := c.contexts[i].progressOf(); p != nil && c.states[i] == open && !c.lost {
				said := *p
				said.Position = c.items[i].ID
				all = append(all, said)
			}
		}
	}
	return all
}
