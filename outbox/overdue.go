package outbox

import (
	"context"
	"slices"
	"sync"
	"time"
)

// overdueHandlers are the messages whose handlers have not returned long after their time-out: they
// ignore their context, and keep their place under Concurrency until they return.
type overdueHandlers struct {
	mu  sync.Mutex
	all []Position
}

// overdueAfter is how long after the time-out a handler counts as overdue: once more, at least.
const overdueAfter = time.Second

// bound returns a context that ends with the time-out of a handler, and watches for one that does not
// return then. end is to be called when it has returned.
func (o *Outbox) bound(ctx context.Context, timeout time.Duration, messages ...*Message) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	var mu sync.Mutex
	returned, counted := false, false
	watch := time.AfterFunc(timeout+max(timeout, overdueAfter), func() {
		mu.Lock()
		defer mu.Unlock()
		if counted = !returned; counted {
			o.overdue.add(messages)
			m := messages[0]
			o.log.WarnContext(ctx, "handler has not returned long after its time-out", "topic", m.Topic, "message_id", m.ID.String(), "count", len(messages), "timeout", timeout)
		}
	})
	return ctx, func() {
		cancel()
		watch.Stop()
		mu.Lock()
		defer mu.Unlock()
		if returned = true; counted {
			o.overdue.remove(messages)
		}
	}
}

func (h *overdueHandlers) add(messages []*Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		h.all = append(h.all, m.Position)
	}
}

func (h *overdueHandlers) remove(messages []*Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		if i := slices.Index(h.all, m.Position); i >= 0 {
			h.all = slices.Delete(h.all, i, i+1)
		}
	}
}

// positions returns the messages, as they are now.
func (h *overdueHandlers) positions() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return positions(h.all)
}
