package probe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bravellian/pawl/health"
)

// shared lets requests that arrive together share one check, so that many probes do
// not add to the load of a database in trouble.
type shared struct {
	check func(context.Context) health.Report
	fresh time.Duration // how long a report serves later requests

	mu   sync.Mutex
	last *result
}

// result is that of a check, which may still run.
type result struct {
	done   chan struct{}
	report health.Report
	at     time.Time // when the check ended
	broken bool      // it panicked
}

var errBroken = errors.New("the shared check panicked")

// get returns a report that is not older than fresh. It returns early if ctx ends.
func (s *shared) get(ctx context.Context) (health.Report, error) {
	s.mu.Lock()
	r := s.last
	if r != nil && !s.stale(r) {
		s.mu.Unlock()
		select {
		case <-r.done:
			if r.broken {
				return health.Report{}, errBroken
			}
			return r.report, nil
		case <-ctx.Done():
			return health.Report{}, ctx.Err()
		}
	}
	r = &result{done: make(chan struct{}), broken: true}
	s.last = r
	s.mu.Unlock()
	defer close(r.done)
	// Other requests wait for this check: it does not end with the one that started it.
	r.report = s.check(context.WithoutCancel(ctx))
	r.at, r.broken = time.Now(), false
	return r.report, nil
}

// stale reports whether later requests need another check.
func (s *shared) stale(r *result) bool {
	select {
	case <-r.done:
		return r.broken || time.Since(r.at) >= s.fresh
	default:
		return false
	}
}
