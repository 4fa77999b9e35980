package outbox

import (
	"context"
	"slices"
	"sync"
	"time"
)

// overdueHandlers are the calls of handlers that have not returned long after their time-out: they
// ignore their context, and keep their place under Concurrency until they return.
type overdueHandlers struct {
	mu  sync.Mutex
	all []*overdueCall
}

type overdueCall struct {
	messages []*Message
	returned bool // guarded by the mutex of overdueHandlers
}

// overdueAfter is how long after the time-out a handler counts as overdue: once more, at least.
const overdueAfter = time.Second

// bound returns a context that ends with the time-out of a handler, and watches for one that does not
// return then. end is to be called when it has returned.
func (o *Outbox) bound(ctx context.Context, timeout time.Duration, messages ...*Message) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	c := &overdueCall{messages: messages}
	watch := time.AfterFunc(timeout+max(timeout, overdueAfter), func() {
		if o.overdue.add(c) {
			m := messages[0]
			o.log.WarnContext(ctx, "handler has not returned long after its time-out", "topic", m.Topic, "message_id", m.ID.String(), "count", len(messages), "timeout", timeout)
		}
	})
	return ctx, func() {
		cancel()
		if !watch.Stop() {
			o.overdue.remove(c)
		}
	}
}

// add adds a call unless it has returned by now.
func (h *overdueHandlers) add(c *overdueCall) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !c.returned {
		h.all = append(h.all, c)
	}
	return !c.returned
}

func (h *overdueHandlers) remove(c *overdueCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.returned = true
	h.all = slices.DeleteFunc(h.all, func(d *overdueCall) bool { return d == c })
}

// positions returns the messages, as they are now.
func (h *overdueHandlers) positions() (all []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.all {
		for _, m := range c.messages {
			all = append(all, int64(m.Position))
		}
	}
	return all
}
