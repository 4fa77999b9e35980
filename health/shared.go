package health

import (
	"context"
	"errors"
	"sync"
	"time"
)

// shared lets probes that come together share one look: a database in trouble is not
// helped by ten who ask how it is.
type shared struct {
	look  func(context.Context) Report
	fresh time.Duration // how long a look serves those who come later

	mu   sync.Mutex
	last *glance
}

// glance is a look that is under way, or over.
type glance struct {
	over   chan struct{}
	report Report
	at     time.Time // when it was over
	broken bool      // it panicked
}

var errBroken = errors.New("the look that was shared broke off")

// get returns a report that is not older than fresh. It ends early if ctx does.
func (s *shared) get(ctx context.Context) (Report, error) {
	s.mu.Lock()
	g := s.last
	if g != nil && !s.stale(g) {
		s.mu.Unlock()
		select {
		case <-g.over:
			if g.broken {
				return Report{}, errBroken
			}
			return g.report, nil
		case <-ctx.Done():
			return Report{}, ctx.Err()
		}
	}
	g = &glance{over: make(chan struct{}), broken: true}
	s.last = g
	s.mu.Unlock()
	defer close(g.over)
	// Others wait for this, too: it does not end with whoever came first.
	g.report = s.look(context.WithoutCancel(ctx))
	g.at, g.broken = time.Now(), false
	return g.report, nil
}

// stale reports whether a look no longer serves.
func (s *shared) stale(g *glance) bool {
	select {
	case <-g.over:
		return g.broken || time.Since(g.at) >= s.fresh
	default:
		return false
	}
}
