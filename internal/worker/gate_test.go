package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// crashed claims n items of a topic for a worker that then crashes: with PollMax 1 s they
// are suspects within 2 s. alone makes each a suspect of its own.
func (s *store) crashed(n int, topic string, alone bool) []int64 {
	ids := s.add(n, topic, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := uuid.New()
	for _, id := range ids {
		e := s.entries[id-1]
		e.place, e.owner, e.until = leased, owner, time.Now()
		if alone {
			e.suspect = 2
		}
	}
	return ids
}

// span is when a topic's handlers ran.
func span(rigs []*rig, ids ...int64) (first, last time.Time) {
	for _, r := range rigs {
		for _, id := range ids {
			for _, x := range r.executions(id) {
				if first.IsZero() || x.start.Before(first) {
					first = x.start
				}
				if x.end.After(last) {
					last = x.end
				}
			}
		}
	}
	return first, last
}

// takes makes the duration of handlers depend on their topic.
func takes(by map[string]time.Duration) func(context.Context, item) error {
	return func(ctx context.Context, i item) error { return until(ctx, by[i.Topic]) }
}

// D-12: loops that share a gate finish what they hold before one of them handles suspects,
// and start nothing while it does.
func TestSuspectsAreHandledAlone(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		gate := &worker.Gate{}
		cfg := worker.Config[payload]{PollMax: time.Second, Gate: gate}
		handle := takes(map[string]time.Duration{"long": 4 * time.Second, "suspect": 2 * time.Second, "quick": time.Millisecond})
		rigs := []*rig{newRig(s, cfg, handle), newRig(s, cfg, handle)}
		long := s.add(1, "long", 0)
		rigs[0].link.before = func(_ context.Context, c *call) error {
			if c.op == "reap" { // so that the other one handles the suspects
				return errAway
			}
			return nil
		}
		for _, r := range rigs {
			r.start()
			defer r.end()
			advance(100 * time.Millisecond)
		}
		suspects := s.crashed(50, "suspect", false)
		var quick []int64
		for range 300 {
			quick = append(quick, s.add(1, "quick", 0)...)
			s.notify()
			advance(50 * time.Millisecond)
		}
		_, freed := span(rigs, long...)
		first, last := span(rigs, suspects...)
		if first.Before(freed) || last.IsZero() {
			t.Fatalf("suspects ran from %v to %v, what was held before until %v", first, last, freed)
		}
		for _, id := range quick {
			if begin, end := span(rigs, id); begin.IsZero() || begin.Before(last) && end.After(first) {
				t.Errorf("item %d ran from %v to %v, beside suspects", id, begin, end)
			}
		}
		for _, id := range suspects {
			wantPlace(t, s, id, acked, 0)
		}
	})
}

// D-12: suspects are handled under any load, and other items while there are suspects.
func TestSuspectsAndOthersBothGetOn(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMax: time.Second}, takes(map[string]time.Duration{"suspect": time.Second, "load": 200 * time.Millisecond}))
		suspects := s.crashed(20, "suspect", true)
		r.start()
		defer r.end()
		var load []int64
		for range 700 {
			load = append(load, s.add(10, "load", 0)...)
			s.notify()
			advance(100 * time.Millisecond)
		}
		advance(5 * time.Second)
		for _, id := range suspects {
			wantPlace(t, s, id, acked, 0)
		}
		done := 0
		for _, id := range load {
			if s.get(id).place == acked {
				done++
			}
		}
		if done < len(load)*9/10 {
			t.Errorf("%d of %d others were handled beside 20 suspects in a minute", done, len(load))
		}
	})
}

// D-12: a handler that runs for long does not block others until it ends.
func TestSuspectsWaitForLongHandlersInVain(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMax: time.Second}, takes(map[string]time.Duration{"long": 10 * time.Minute, "suspect": time.Second, "load": time.Millisecond}))
		s.add(1, "long", 0)
		r.start()
		defer r.end()
		advance(time.Second)
		suspects := s.crashed(3, "suspect", false)
		slow := 0
		for range 540 {
			id := s.add(1, "load", 0)[0]
			s.notify()
			advance(time.Second)
			if s.get(id).place != acked {
				slow++
			}
		}
		if slow > 330 { // 5 + 10 + 20 + 40 + 80 + 160 s
			t.Errorf("of 540 items %d waited for longer than a second", slow)
		}
		for _, id := range suspects {
			wantRuns(t, r, id, 0)
		}
		advance(10 * time.Minute)
		for _, id := range suspects {
			wantPlace(t, s, id, acked, 0)
		}
	})
}

// D-12: where there is always one that runs for long, suspects are handled too.
func TestSuspectsOutwaitLongHandlers(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMax: time.Second}, takes(map[string]time.Duration{"long": 20 * time.Second, "suspect": time.Second}))
		s.add(1, "long", 0)
		r.start()
		defer r.end()
		advance(time.Second)
		suspects := s.crashed(3, "suspect", false)
		for range 60 {
			s.add(1, "long", 0)
			s.notify()
			advance(5 * time.Second)
		}
		for _, id := range suspects {
			wantPlace(t, s, id, acked, 0)
		}
	})
}

// D-12: nor do suspects that run for long block others.
func TestLongSuspectsGoOnInCompany(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMax: time.Second}, takes(map[string]time.Duration{"suspect": time.Hour, "load": time.Millisecond}))
		suspects := s.crashed(1, "suspect", false)
		r.start()
		defer r.end()
		advance(5 * time.Second)
		id := s.add(1, "load", 0)[0]
		s.notify()
		advance(5 * time.Second)
		wantRuns(t, r, id, 0)
		advance(10 * time.Second)
		wantPlace(t, s, id, acked, 0)
		advance(time.Hour)
		wantPlace(t, s, suspects[0], acked, 0)
	})
}

// D-12: a loop that ends with its work or its time slice handles suspects before.
func TestDrainsHandleSuspects(t *testing.T) {
	for name, cfg := range map[string]worker.Config[payload]{
		"stop empty": {StopEmpty: true},
		"slice":      {Slice: worker.TimeSlice{IdleTimeout: func() time.Duration { return 0 }}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				suspects := s.crashed(5, "suspect", true)
				advance(time.Second)
				others := s.add(5, "load", 0)
				r := newRig(s, cfg, takes(map[string]time.Duration{"suspect": time.Second}))
				r.start()
				<-r.done
				for _, id := range append(suspects, others...) {
					wantPlace(t, s, id, acked, 0)
				}
			})
		})
	}
}

// D-12: what was not started goes back as a suspect; a handler's snooze clears it.
func TestSuspectsThatWereNotBegunStaySuspects(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		putBack, snoozed, unhandled := s.crashed(1, "put back", false)[0], s.crashed(1, "snoozed", false)[0], s.crashed(1, "unhandled", false)[0]
		r := newRig(s, worker.Config[payload]{PollMax: time.Second}, func(_ context.Context, i item) error {
			switch i.Topic {
			case "put back":
				return worker.PutBack(time.Hour)
			case "snoozed":
				return worker.Snooze(time.Hour)
			}
			return worker.Unhandled(time.Hour)
		})
		r.start()
		defer r.end()
		advance(10 * time.Second)
		for id, want := range map[int64]bool{putBack: true, snoozed: false, unhandled: true} {
			if e := wantPlace(t, s, id, ready, 0); e.suspect > 0 != want || e.claims != 1 {
				t.Errorf("item %d after %d claims: suspect %d", id, e.claims, e.suspect)
			}
		}
	})
}

// D-9: an item that cannot be read fails alone, with the reason, and is not handled.
func TestUnreadableItemFailsAlone(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(20, "t", 0)
		s.entries[7].fault = errors.New("cannot be read: topic")
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		advance(time.Second)
		for _, id := range ids {
			if id != 8 {
				wantPlace(t, s, id, acked, 0)
			}
		}
		if e := wantPlace(t, s, 8, dead, 0); e.reason != "cannot be read: topic" {
			t.Errorf("it failed with %q", e.reason)
		}
		wantRuns(t, r, 8, 0)
		if len(r.logs.lines("level=ERROR", "cannot be read")) != 1 {
			t.Error("that was not logged")
		}
	})
}
