package worker

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"
)

// ErrCancelled is the cause with which a handler's context ends when its item is stopped.
var ErrCancelled = errors.New("cancelled")

// Stop is an item whose handler is to end.
type Stop struct {
	ID     int64
	Owner  uuid.UUID // whose attempt is to end, to be made again; zero: anybody's, and the item is cancelled
	Reason string
}

// cancelledError ends an item as cancelled.
type cancelledError struct{ reason string }

func (e *cancelledError) Error() string { return e.reason }

// Cancelled returns an error with which a handler ends its item as cancelled.
func Cancelled(reason string) error { return &cancelledError{reason} }

// itemContext is the context of an item's handler. It is that of its claim until somebody waits for its
// end, or it is stopped: one of its own for each took two allocations more.
type itemContext struct {
	context.Context
	mu     sync.Mutex
	own    context.Context
	cancel context.CancelCauseFunc
	stop   *Stop
	// progress is what the handler said of itself last.
	progress *Progress
}

func (c *itemContext) ownLocked() context.Context {
	if c.own == nil {
		c.own, c.cancel = context.WithCancelCause(c.Context) // which ends with the claim
	}
	return c.own
}

// Done is context.Context's.
func (c *itemContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ownLocked().Done()
}

// now returns the context that says what c is now.
func (c *itemContext) now() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own != nil {
		return c.own
	}
	return c.Context
}

// Err is context.Context's.
func (c *itemContext) Err() error { return c.now().Err() }

// Value is context.Context's. Through it package context finds the one of its own, and its cause.
func (c *itemContext) Value(key any) any {
	if key == (progressKey{}) {
		return c
	}
	return c.now().Value(key)
}

// end ends the context, unless it has ended.
func (c *itemContext) end(s *Stop) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ownLocked().Err() == nil {
		c.stop = s
		c.cancel(ErrCancelled)
	}
}

// stopped returns what ended the context; nil: nothing did, or something else.
func (c *itemContext) stopped() *Stop {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop
}

// stop ends the handlers of items that are held; those that have not begun will not.
func (l *inflight[M]) stop(stops []Stop) {
	if len(stops) == 0 {
		return
	}
	of := make(map[int64]*Stop, len(stops))
	for i := range stops {
		of[stops[i].ID] = &stops[i]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.claims {
		for i := range c.items {
			if s := of[c.items[i].ID]; s != nil && c.states[i] == open && (s.Owner == uuid.Nil || s.Owner == c.owner) {
				c.contexts[i].end(s)
			}
		}
	}
}

// stopped returns the result of an item that was stopped; ok is false if it was not.
func (l *Loop[M]) stopped(t *task[M]) (r result, ok bool) {
	s := t.ctx().stopped()
	switch {
	case s == nil:
		return r, false
	case s.Owner != uuid.Nil:
		return result{outcome: released, reported: OutcomeReleased, notStarted: t.started.IsZero()}, true
	}
	return l.cancelled(t, s.Reason), true
}

// cancelled returns the result of an item that ends as cancelled.
func (l *Loop[M]) cancelled(t *task[M], reason string) result {
	l.cfg.Logger.Info("cancelled", "topic", t.item.Topic, "message_id", t.item.MessageID.String(), "reason", reason)
	return result{outcome: cancelled, reported: OutcomeCancelled, text: ErrorText(reason)}
}
