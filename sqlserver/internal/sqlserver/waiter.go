package sqlserver

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Notify wakes this process's waiters of a queue.
func (db *DB) Notify(queue string) { db.notifier.Notify(queue) }

type waiter struct {
	db       *DB
	queue    string
	notifier chan struct{}
	armed    bool
}

// Waiter returns a waiter for one queue. Commits of this process wake it; those of other
// processes are found by the caller's next poll.
func (db *DB) Waiter(queue string) engine.Waiter {
	return &waiter{db: db, queue: queue, notifier: db.notifier.Subscribe(queue)}
}

// Subscribe does nothing at the server: the waiter is subscribed from the beginning.
func (w *waiter) Subscribe(context.Context) (again bool, err error) {
	again = !w.armed
	w.armed = true
	return again, nil
}

func (w *waiter) Unsubscribe() { w.armed = false }

// Sleep waits for this process's commits.
func (w *waiter) Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return false
	case <-w.notifier:
		return true
	}
}

// Close ends the waiter's subscription.
func (w *waiter) Close() { w.db.notifier.Unsubscribe(w.queue, w.notifier) }
