package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// write writes an item as claimed by a loop, as an enqueue does.
func (s *store) write(h *worker.Handover[payload], topic string) item {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &entry{id: int64(len(s.entries) + 1), topic: topic, at: time.Now(), place: leased, owner: h.Owner, until: time.Now().Add(h.Lease), claims: 1}
	s.entries = append(s.entries, e)
	return item{ID: e.id, MessageID: messageID(e.id), Topic: topic, Body: payload{h.Owner}}
}

// handOver hands an item over to an idle loop.
func (r *rig) handOver(t *testing.T, topic string) (int64, bool) {
	t.Helper()
	h := r.loop.Offer(topic)
	if h == nil {
		t.Fatal("no place in an idle loop")
	}
	h.Begin()
	i := r.s.write(h, topic)
	return i.ID, h.Accept(t.Context(), i)
}

func quickly(context.Context, item) error { return nil }

// What is handed over to an idle loop is handled at once and acked, without a claim.
func TestHandOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, asleep(), quickly)
		if r.loop.Offer("t") != nil {
			t.Error("a place in a loop that does not run")
		}
		r.start()
		defer r.end()
		for range 3 {
			advance(time.Minute)
			before := len(r.link.calls("exchange"))
			id, ok := r.handOver(t, "t")
			advance(10 * time.Millisecond)
			wantPlace(t, s, id, acked, 0)
			if n := len(r.link.calls("exchange")); !ok || n != before+1 {
				t.Errorf("accepted: %v, %d exchanges, want one for the ack", ok, n-before)
			}
		}
		if c := r.loop.Stats().Counts(); c.Claimed != 3 || c.Acked != 3 {
			t.Errorf("counted %+v", c)
		}
	})
}

// An item that is handed over has its lease extended like others.
func TestHandOverIsExtended(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		cfg := asleep()
		cfg.Lease = 3 * time.Second
		r := newRig(s, cfg, func(ctx context.Context, _ item) error { return until(ctx, 30*time.Second) })
		r.start()
		defer r.end()
		advance(time.Minute)
		id, _ := r.handOver(t, "t")
		advance(time.Minute)
		if e := wantPlace(t, s, id, acked, 0); e.lapses > 0 {
			t.Error("its lease expired")
		}
	})
}

// There is a place only while nothing is held, so that other processes get their share, and only
// one at a time.
func TestNoHandOverWhileBusy(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, asleep(), func(ctx context.Context, _ item) error { return until(ctx, time.Second) })
		r.start()
		defer r.end()
		advance(time.Minute)
		h := r.loop.Offer("t")
		if h == nil || r.loop.Offer("t") != nil {
			t.Fatalf("first place: %v; or there is a second one", h)
		}
		i := s.write(h, "t")
		h.Accept(t.Context(), i)
		advance(time.Millisecond)
		if r.loop.Offer("t") != nil {
			t.Error("a place while a handler runs")
		}
		advance(2 * time.Second)
		h = r.loop.Offer("t")
		if h == nil {
			t.Fatal("no place after it was handled")
		}
		h.Withdraw()
		advance(time.Millisecond)
		if _, ok := r.handOver(t, "t"); !ok {
			t.Error("no place after one was given back")
		}
	})
}

// D-12: nothing is handed over while suspects wait or run, and they wait for what was offered.
func TestNoHandOverBesideSuspects(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		cfg := worker.Config[payload]{PollMax: time.Second, Gate: &worker.Gate{}}
		handle := takes(map[string]time.Duration{"suspect": 4 * time.Second})
		other := asleep()
		other.Gate = cfg.Gate
		rigs := []*rig{newRig(s, cfg, handle), newRig(newStore(), cfg, handle), newRig(newStore(), other, handle)} // queues of a process
		for _, r := range rigs {
			r.start()
			defer r.end()
		}
		advance(time.Minute)
		h := rigs[1].loop.Offer("t")
		if h == nil {
			t.Fatal("no place")
		}
		id := s.crashed(1, "suspect", false)[0]
		advance(3 * time.Second)
		wantRuns(t, rigs[0], id, 0)
		h.Withdraw()
		advance(time.Second)
		if rigs[0].running() != 1 {
			t.Fatal("the suspect does not run once nothing is offered")
		}
		if rigs[0].loop.Offer("t") != nil || rigs[2].loop.Offer("t") != nil {
			t.Error("a place beside a suspect")
		}
	})
}

// Nothing is handed over for a paused topic, nor to a loop that ends when nothing is left.
func TestNoHandOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		cfg := asleep()
		cfg.Paused = func(string) worker.PauseState { return worker.TopicPaused }
		r := newRig(s, cfg, quickly)
		r.start()
		defer r.end()
		advance(time.Minute)
		if r.loop.Offer("t") != nil {
			t.Error("a place for a paused topic")
		}
	})
}

// Accept refuses after the loop has ended, so that the item can be released.
func TestHandOverToAnEndedLoop(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, asleep(), quickly)
		r.start()
		advance(time.Minute)
		h := r.loop.Offer("t")
		r.end()
		i := s.write(h, "t")
		if h.Accept(t.Context(), i) {
			t.Error("accepted")
		}
		wantRuns(t, r, i.ID, 0)
	})
}

// What may have been written is released at once, whether it was or not.
func TestHandOverOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, asleep(), quickly)
		r.start()
		defer r.end()
		advance(time.Minute)
		h := r.loop.Offer("t")
		i := s.write(h, "t")
		h.Unknown(i.ID)
		advance(time.Second)
		wantPlace(t, s, i.ID, acked, 0)
	})
}
