package anydriver

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// look is how long to wait between looks for other processes' commits, after
// so much quiet. PRAGMA data_version costs 3 µs, so a look per millisecond is a
// third of a percent of a core: too much for a process that waits all night.
func (o *Options) look(quiet time.Duration) time.Duration {
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

// watcher looks for commits of any connection, for all sleepers of a DB. It
// looks only while someone sleeps, on the sleeper's own goroutine.
type watcher struct {
	db   *DB
	mu   sync.Mutex
	slot *slot
}

// version returns a number that changes with every commit of another
// connection, or ok = false if it cannot be had just now.
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

// lose closes the connection; the next look makes another.
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

type sleeper struct {
	db       *DB
	queue    string
	notifier chan struct{}
	version  int64
	armed    bool
	news     time.Time // when something last came
}

// Waiter returns a sleeper for one queue.
func (db *DB) Waiter(queue string) engine.Waiter {
	return &sleeper{db: db, queue: queue, notifier: db.notifier.Subscribe(queue), news: time.Now()}
}

// Arm notes the state of the file. Our own commits change it too, so there is
// always one more look to take: reading costs less than a false alarm.
func (s *sleeper) Subscribe(ctx context.Context) (again bool, err error) {
	s.version, s.armed = s.db.watch.version(ctx)
	return true, nil
}

func (s *sleeper) Unsubscribe() {}

// Sleep looks for commits until there is one, d is over, or ctx ends.
func (s *sleeper) Sleep(ctx context.Context, d time.Duration) bool {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	next := time.NewTimer(s.db.opts.look(time.Since(s.news)))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-deadline.C:
			return false
		case <-s.notifier:
			s.news = time.Now()
			return true
		case <-next.C:
			if v, ok := s.db.watch.version(ctx); s.armed && (!ok || v != s.version) {
				s.news = time.Now()
				return true
			}
			next.Reset(s.db.opts.look(time.Since(s.news)))
		}
	}
}

// Close ends the sleeper's listening.
func (s *sleeper) Close() { s.db.notifier.Unsubscribe(s.queue, s.notifier) }
