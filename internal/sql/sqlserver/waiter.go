package sqlserver

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Notify wakes this process's sleepers of a queue.
func (db *DB) Notify(queue string) { db.notifier.Notify(queue) }

type sleeper struct {
	db       *DB
	queue    string
	notifier chan struct{}
	armed    bool
}

// Waiter returns a sleeper for one queue. What this process commits wakes it; other
// processes' commits are found by the caller's next look.
func (db *DB) Waiter(queue string) engine.Waiter {
	return &sleeper{db: db, queue: queue, notifier: db.notifier.Subscribe(queue)}
}

// Subscribe asks nobody: the sleeper listens from the beginning.
func (s *sleeper) Subscribe(context.Context) (again bool, err error) {
	again = !s.armed
	s.armed = true
	return again, nil
}

func (s *sleeper) Unsubscribe() { s.armed = false }

// Sleep waits for this process's commits.
func (s *sleeper) Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return false
	case <-s.notifier:
		return true
	}
}

// Close ends the sleeper's listening.
func (s *sleeper) Close() { s.db.notifier.Unsubscribe(s.queue, s.notifier) }
