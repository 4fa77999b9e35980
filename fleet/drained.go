package fleet

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
)

// drained waits until the list was read and no store has anything due.
func (f *Fleet) drained(ctx context.Context) {
	for ctx.Err() == nil && !f.isDrained() {
		_ = engine.Sleep(ctx, soonDelay)
	}
}

// drainFailures is after how many failures, or time slices without result, a store no longer
// keeps a fleet from being drained.
const drainFailures = 3

func (f *Fleet) isDrained() bool {
	if read, _ := f.registry.state(); !read || !f.share.ready() || !f.turns.empty() {
		return false
	}
	for _, s := range f.registry.unsorted() {
		if !s.isOurs() {
			continue
		}
		s.mu.Lock()
		settled := s.emptyPolls > 1 || s.failures >= drainFailures || s.emptySlices >= drainFailures
		s.mu.Unlock()
		if !settled {
			return false
		}
	}
	return true
}
