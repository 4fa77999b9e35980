package anydriver

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// waiter waits for work in one queue.
type waiter struct {
	db       *DB
	queue    string
	notifier chan struct{}
}

// Waiter returns a waiter for one queue.
func (db *DB) Waiter(queue string) engine.Waiter {
	return &waiter{db: db, queue: queue, notifier: db.notifier.Subscribe(queue)}
}

// Subscribe forgets what was notified before: the caller polls once more. It always returns
// true: that costs less than a needless wake-up.
func (s *waiter) Subscribe(ctx context.Context) (again bool, err error) {
	s.db.watch.subscribe(ctx)
	select {
	case <-s.notifier:
	default:
	}
	return true, nil
}

func (s *waiter) Unsubscribe() {}

// Sleep waits for a notification, until d is over or ctx ends. Meanwhile the watcher notifies of
// commits that do not do so themselves.
func (s *waiter) Sleep(ctx context.Context, d time.Duration) bool {
	s.db.watch.begin()
	defer s.db.watch.end()
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-deadline.C:
		return false
	case <-s.notifier:
		return true
	}
}

// Close ends the subscription.
func (s *waiter) Close() { s.db.notifier.Unsubscribe(s.queue, s.notifier) }
