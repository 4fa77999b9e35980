package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// OBX-118: a backlog is worked off in batches: the number of exchanges with the
// database is a small fraction of that of the items, which is what thousands of
// items a second take.
func TestABacklogTakesFewExchanges(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		const items = 5000
		ids := s.add(items, "t", 0)
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		r.link.hook(func(context.Context, *call) error { // what is added meanwhile is part of the next batch
			time.Sleep(time.Millisecond)
			return nil
		})
		r.start()
		defer r.end()
		advance(time.Minute)
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
		}
		if n := len(r.link.calls("exchange")); n > items/10 {
			t.Errorf("%d exchanges for %d items", n, items)
		}
	})
}
