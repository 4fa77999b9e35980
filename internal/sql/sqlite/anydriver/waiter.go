package anydriver

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// pollInterval returns how long to wait between polls for other processes' commits, after so
// long without one. PRAGMA data_version costs 3 µs, so a poll per millisecond takes a third
// of a percent of a core: too much for a process that is idle for hours.
func (o *Options) pollInterval(quiet time.Duration) time.Duration {
	switch {
	case o.WatchEvery > 0:
		return o.WatchEvery
	case quiet < time.Second:
		return time.Millisecond
	case quiet < time.Minute:
		return 5 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// watcher polls for commits of any connection, for all waiters of a DB. It polls only while
// one sleeps, on that one's goroutine.
type watcher struct {
	db   *DB
	mu   sync.Mutex
	slot *slot
}

// version returns a number that changes with every commit of another connection; ok is false
// if it cannot be read now.
func (w *watcher) version(ctx context.Context) (v int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot == nil {
		w.slot = &slot{pool: w.db.sql, guard: w.db.guard}
	}
	if w.db.guard.check() != nil {
		return 0, false
	}
	err := w.slot.use(ctx, func(s *session) error {
		s.ctx = context.Background()
		return s.query("PRAGMA data_version", nil, func(r engine.Row) error { return r.Scan(&v) })
	})
	return v, err == nil
}

// lose closes the connection; the next poll makes another.
func (w *watcher) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot != nil {
		w.slot.lose()
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot != nil {
		w.slot.close()
	}
}

type waiter struct {
	db         *DB
	queue      string
	notifier   chan struct{}
	version    int64
	subscribed bool
	lastCommit time.Time // when a commit was last noticed
}

// Waiter returns a waiter for one queue.
func (db *DB) Waiter(queue string) engine.Waiter {
	return &waiter{db: db, queue: queue, notifier: db.notifier.Subscribe(queue), lastCommit: time.Now()}
}

// Subscribe reads the version of the file. pawl's own commits change it too, so it always
// returns true: one more poll costs less than a needless wake-up.
func (s *waiter) Subscribe(ctx context.Context) (again bool, err error) {
	s.version, s.subscribed = s.db.watch.version(ctx)
	return true, nil
}

func (s *waiter) Unsubscribe() {}

// Sleep polls for commits until there is one, d is over, or ctx ends.
func (s *waiter) Sleep(ctx context.Context, d time.Duration) bool {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	next := time.NewTimer(s.db.opts.pollInterval(time.Since(s.lastCommit)))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-deadline.C:
			return false
		case <-s.notifier:
			s.lastCommit = time.Now()
			return true
		case <-next.C:
			if v, ok := s.db.watch.version(ctx); s.subscribed && (!ok || v != s.version) {
				s.lastCommit = time.Now()
				return true
			}
			next.Reset(s.db.opts.pollInterval(time.Since(s.lastCommit)))
		}
	}
}

// Close ends the subscription.
func (s *waiter) Close() { s.db.notifier.Unsubscribe(s.queue, s.notifier) }
