package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

func forGood() time.Duration { return 1000 * time.Hour }

func fine(context.Context, item) error { return nil }

func ended(r *rig) bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// D-93: a time slice ends when nothing was claimed for its idle timeout, and not before.
func TestTurnLingers(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		r := newRig(s, worker.Config[payload]{Slice: worker.TimeSlice{IdleTimeout: func() time.Duration { return 5 * time.Second }}}, fine)
		r.start()
		advance(3 * time.Second) // a poll every second, ± 10 %
		if ended(r) {
			t.Error("the slice did not wait for its idle timeout")
		}
		more := s.add(1, "t", 0)
		advance(4 * time.Second)
		if wantPlace(t, s, more[0], acked, 0); ended(r) {
			t.Error("work does not prolong the slice")
		}
		advance(3 * time.Second)
		if !ended(r) {
			t.Error("the slice did not end")
		}
		wantPlace(t, s, ids[0], acked, 0)
	})
}

// OBX-068, D-93: a slice whose strategy does not continue ends after one batch, with all of it handled.
func TestTurnOfOneBatch(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(50, "t", 0)
		r := newRig(s, worker.Config[payload]{BatchSize: 10, Concurrency: 10, Slice: worker.TimeSlice{Continue: func() bool { return false }}}, fine)
		r.start()
		advance(time.Second)
		if !ended(r) || s.count(acked) != 10 || s.count(leased) != 0 {
			t.Errorf("ended %v, %d handled, %d held", ended(r), s.count(acked), s.count(leased))
		}
	})
}

// D-93: a slice is over for all its loops once it is over for one, or the queue of that one
// would not be served while the others have work.
func TestTurnEndsForAllLoops(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		slice := worker.TimeSlice{IdleTimeout: forGood, Continue: func() bool { return true }}.Shared()
		if slice.Shared().Done != slice.Done {
			t.Error("shared twice it is two turns")
		}
		idle := newRig(s, worker.Config[payload]{Slice: slice}, fine)
		idle.start()
		advance(time.Minute)
		if ended(idle) || slice.Done.Load() {
			t.Fatal("it ended by itself")
		}
		s.add(1000, "t", 0)
		slice.Done.Store(true)
		advance(time.Second)
		if !ended(idle) || s.count(leased) != 0 {
			t.Errorf("ended %v, %d held", ended(idle), s.count(leased))
		}
		over := new(atomic.Bool)
		first := newRig(s, worker.Config[payload]{Slice: worker.TimeSlice{IdleTimeout: func() time.Duration { return 0 }, Done: over}}, fine)
		first.start()
		advance(time.Minute)
		if !ended(first) || !over.Load() {
			t.Error("who ends first does not tell the others")
		}
	})
}

// D-12, D-93: even the shortest slice reaps what crashed workers held.
func TestTurnReaps(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(5, "t", 0)
		s.mu.Lock()
		s.claim(uuid.New(), time.Second, 5)
		s.mu.Unlock()
		advance(time.Minute)
		r := newRig(s, worker.Config[payload]{Slice: worker.TimeSlice{IdleTimeout: func() time.Duration { return 0 }}}, fine)
		r.start()
		advance(time.Second)
		if !ended(r) || s.count(acked) != 5 {
			t.Errorf("ended %v, %d of 5 handled", ended(r), s.count(acked))
		}
	})
}
