package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// gauge counts how many handlers of a topic run at once.
type gauge struct{ now, most, all atomic.Int64 }

func (g *gauge) run(ctx context.Context, d time.Duration) error {
	g.most.Store(max(g.most.Load(), g.now.Add(1))) // the bubble runs one goroutine at a time between waits
	defer g.now.Add(-1)
	err := until(ctx, d)
	if err == nil {
		g.all.Add(1)
	}
	return err
}

// limitedConfig bounds topics; others have no limit.
func limitedConfig(cfg worker.Config[payload], slots map[string]*worker.Slots) worker.Config[payload] {
	cfg.SlotsOf = func(topic string) *worker.Slots { return slots[topic] }
	return cfg
}

// D-202: topics with slots never run more than those at once, use them all while there is work, and
// keep no handler from other topics, however many of their items are ahead.
func TestSlotsBoundATopicOnly(t *testing.T) {
	for _, backlog := range []int{20, 2000} {
		bubble(t, func(t *testing.T, s *store) {
			s.add(backlog, "slow", 0)
			others := s.add(50, "quick", 0)
			var slow gauge
			cfg := limitedConfig(worker.Config[payload]{Concurrency: 4, BatchSize: 100}, map[string]*worker.Slots{"slow": worker.NewSlots(3, false)})
			r := newRig(s, cfg, func(ctx context.Context, i item) error {
				if i.Topic == "slow" {
					return slow.run(ctx, 500*time.Millisecond)
				}
				return until(ctx, 10*time.Millisecond)
			})
			r.start()
			defer r.end()
			advance(2 * time.Second)
			for _, id := range others {
				wantPlace(t, s, id, acked, 0)
			}
			advance(time.Minute)
			if n := slow.most.Load(); n != 3 {
				t.Errorf("up to %d at once of a topic with 3 slots", n)
			}
			if n, could := int(slow.all.Load()), min(backlog, 62*2*3); n < could*9/10 {
				t.Errorf("%d handled where %d could be", n, could)
			}
		})
	}
}

// D-202: loops that share slots run no more than those together, and each gets its turn.
func TestSlotsAreShared(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		other := newStore()
		s.add(30, "slow", 0)
		other.add(30, "slow", 0)
		slots := map[string]*worker.Slots{"slow": worker.NewSlots(2, false)}
		var slow gauge
		handle := func(ctx context.Context, _ item) error { return slow.run(ctx, time.Second) }
		a, b := newRig(s, limitedConfig(worker.Config[payload]{}, slots), handle), newRig(other, limitedConfig(worker.Config[payload]{}, slots), handle)
		a.start()
		b.start()
		advance(20 * time.Second)
		if s.count(acked) < 5 || other.count(acked) < 5 {
			t.Errorf("%d and %d handled", s.count(acked), other.count(acked))
		}
		advance(20 * time.Second)
		a.end()
		b.end()
		if n := slow.most.Load(); n != 2 {
			t.Errorf("up to %d at once with 2 slots", n)
		}
		if n := s.count(acked) + other.count(acked); n < 54 {
			t.Errorf("%d of 60 handled", n)
		}
	})
}

// D-202: slots of their own come beside Concurrency, which holds for all other items.
func TestOwnSlots(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(200, "together", 0)
		s.add(40, "alone", 0)
		var together, alone gauge
		cfg := limitedConfig(worker.Config[payload]{Concurrency: 4, Extra: 30}, map[string]*worker.Slots{"together": worker.NewSlots(30, true)})
		r := newRig(s, cfg, func(ctx context.Context, i item) error {
			if i.Topic == "together" {
				return together.run(ctx, time.Second)
			}
			return alone.run(ctx, time.Second)
		})
		r.start()
		defer r.end()
		advance(3500 * time.Millisecond)
		if alone.all.Load() < 8 || together.all.Load() < 60 {
			t.Errorf("%d and %d handled beside each other", together.all.Load(), alone.all.Load())
		}
		advance(16500 * time.Millisecond)
		if together.most.Load() != 30 || alone.most.Load() != 4 {
			t.Errorf("up to %d and %d at once, want 30 and 4", together.most.Load(), alone.most.Load())
		}
		if alone.all.Load() != 40 || together.all.Load() != 200 {
			t.Errorf("%d and %d handled", together.all.Load(), alone.all.Load())
		}
	})
}

// D-202, D-19: a loop that stops releases what waits for slots, at once and uncounted.
func TestStopReleasesWhatWaitsForSlots(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(6, "slow", 0)
		cfg := limitedConfig(worker.Config[payload]{}, map[string]*worker.Slots{"slow": worker.NewSlots(3, false)})
		r := newRig(s, cfg, func(ctx context.Context, _ item) error { return until(ctx, 5*time.Second) })
		r.start()
		advance(time.Second)
		if n := s.count(leased); n != 6 {
			t.Fatalf("%d held", n)
		}
		r.stop()
		advance(time.Second)
		for _, id := range ids[3:] { // although the others go on
			wantPlace(t, s, id, ready, 0)
			wantRuns(t, r, id, 0)
		}
		r.end()
		for _, id := range ids[:3] {
			wantPlace(t, s, id, acked, 0)
		}
	})
}

// D-202: a worker that ends when nothing is left handles limited topics to the end.
func TestSlotsUntilEmpty(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(300, "slow", 0)
		cfg := limitedConfig(worker.Config[payload]{StopEmpty: true, BatchSize: 50}, map[string]*worker.Slots{"slow": worker.NewSlots(2, false)})
		r := newRig(s, cfg, func(ctx context.Context, _ item) error { return until(ctx, 10*time.Millisecond) })
		r.start()
		advance(time.Minute)
		if n := s.count(acked); n != 300 {
			t.Errorf("%d of 300 handled", n)
		}
		r.end()
	})
}

// D-202: a handler that ends its goroutine or panics gives its slot back.
func TestSlotsComeBack(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(9, "slow", 0)
		var all atomic.Int64
		cfg := limitedConfig(worker.Config[payload]{Policy: func(string) worker.RetryPolicy { return worker.RetryPolicy{MaxAttempts: 1} }}, map[string]*worker.Slots{"slow": worker.NewSlots(1, false)})
		r := newRig(s, cfg, func(context.Context, item) error {
			if all.Add(1)%2 == 0 {
				panic("odd")
			}
			return nil
		})
		r.start()
		defer r.end()
		advance(10 * time.Second)
		if n := all.Load(); n != 9 {
			t.Errorf("%d of 9 handled", n)
		}
	})
}

// D-202: what is more than can be handled soon goes back to the database with a due time and
// uncounted, so that others find it and this loop can claim what is behind it.
func TestSlotsPutBack(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(500, "slow", 0)
		cfg := limitedConfig(worker.Config[payload]{}, map[string]*worker.Slots{"slow": worker.NewSlots(2, false)})
		r := newRig(s, cfg, func(ctx context.Context, _ item) error { return until(ctx, time.Second) })
		r.start()
		defer r.end()
		for i := range 20 {
			advance(time.Second)
			if n := s.count(leased); n > 8 && i > 1 { // it does not know at first that they are slow

				t.Fatalf("%d items held for two slots", n)
			}
		}
		if n := s.count(acked); n < 34 {
			t.Errorf("%d handled in 20 s by two slots", n)
		}
	})
}

// D-202, D-20: of a limited topic whose handlers are quick no more is held than can be used soon,
// and never more than a batch besides.
func TestSlotsHoldNoMoreThanABatch(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(20_000, "quick", 0)
		cfg := limitedConfig(worker.Config[payload]{BatchSize: 100}, map[string]*worker.Slots{"quick": worker.NewSlots(4, false)})
		r := newRig(s, cfg, func(ctx context.Context, _ item) error { return until(ctx, time.Millisecond) })
		most := 0
		r.link.after = func(context.Context, *call) error {
			most = max(most, s.count(leased))
			return nil
		}
		r.start()
		defer r.end()
		advance(4 * time.Second)
		if n := s.count(acked); n < 14_000 {
			t.Errorf("%d handled in 4 s by four slots, at a millisecond each", n)
		}
		if most > 2*100+2*4+100 { // what waits, what is being settled, and what a claim just brought
			t.Errorf("%d items held", most)
		}
	})
}
