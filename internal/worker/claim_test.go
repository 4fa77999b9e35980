package worker_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// Items of one claim that finish one after the other, some while results of others are
// being settled, some settled by their handlers themselves: each is finished once, none is
// cancelled because others are, and then nothing is held.
func TestAClaimEndsInParts(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(20, "t", 0)
		r := newRig(s, worker.Config[payload]{Lease: time.Second, StopEmpty: true}, func(ctx context.Context, i item) error {
			if err := until(ctx, time.Duration(i.ID-1)/2*70*time.Millisecond); err != nil { // in pairs
				return err
			}
			if i.ID%3 == 0 {
				return settleOneself(s, i)
			}
			return nil
		})
		r.link.before = func(ctx context.Context, c *call) error {
			if c.op == "exchange" && c.nth > 1 {
				return until(ctx, 100*time.Millisecond)
			}
			return nil
		}
		r.start()
		advance(time.Minute)
		select {
		case <-r.done:
		default:
			t.Error("something is held for ever")
		}
		r.end()
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
			for _, x := range wantRuns(t, r, id, 1) {
				if !x.cancelled.IsZero() && x.cancelled.Before(x.end) {
					t.Errorf("item %d was cancelled", id)
				}
			}
		}
		if c := r.loop.Stats().Counts(); c.Settled != 6 || c.Acked != 14 || c.Claimed != 20 {
			t.Errorf("%+v", c)
		}
	})
}

// settleOneself acks an item in a transaction of its own, as a handler does.
func settleOneself(s *store, i item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(&worker.Settlement{Acks: []worker.Held{{Owner: i.Body.owner, ID: i.ID}}})
	return worker.ErrSettled
}

// The lease of an item that its handler settled is not extended, and not counted as lost.
func TestWhatIsSettledByItselfIsHeldNoMore(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 0)
		r := newRig(s, worker.Config[payload]{Lease: time.Second, PollMin: time.Minute, PollMax: time.Minute}, func(_ context.Context, i item) error {
			return settleOneself(s, i)
		})
		r.start()
		defer r.end()
		advance(30 * time.Second)
		if n := len(r.link.calls("extend")); n > 0 {
			t.Errorf("%d extensions", n)
		}
		if c := r.loop.Stats().Counts(); c.Lost != 0 || c.Settled != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// The same while a stop waits for others.
func TestWhatIsSettledByItselfDuringAStop(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(2, "t", 0)
		r := newRig(s, worker.Config[payload]{Lease: time.Second, BatchSize: 1}, func(ctx context.Context, i item) error {
			if err := until(ctx, time.Duration(i.ID*i.ID)*time.Second); err != nil {
				return err
			}
			return settleOneself(s, i)
		})
		r.start()
		advance(100 * time.Millisecond)
		r.end()
		if c := r.loop.Stats().Counts(); c.Lost != 0 || c.Settled != 2 {
			t.Errorf("%+v", c)
		}
	})
}

// D-18: what waits for a handler does not start once its claim is lost.
func TestNothingOfALostClaimBegins(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		r := newRig(s, worker.Config[payload]{Lease: 30 * time.Second, Concurrency: 1}, func(ctx context.Context, i item) error {
			if ctx.Err() != nil {
				t.Errorf("item %d began under a lost lease", i.ID)
			}
			if s.get(i.ID).lapses > 0 {
				return nil
			}
			_ = until(ctx, time.Minute)
			return context.Cause(ctx)
		})
		// A batch is claimed ahead only when handlers seem quick.
		quick := s.add(5000, "quick", -time.Hour)
		slow := r.handler
		r.handler = func(ctx context.Context, i item) error {
			if i.Topic == "quick" {
				return until(ctx, 100*time.Microsecond)
			}
			return slow(ctx, i)
		}
		r.start()
		defer r.end()
		for s.get(ids[2]).place != leased {
			advance(time.Millisecond)
		}
		if n := s.get(quick[4999]).ends; n != 1 {
			advance(time.Second)
		}
		s.endLease(ids...)
		advance(3 * time.Minute)
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
		}
	})
}

type megabyte [1 << 20]byte

// oneClaim is a queue that returns its items with the first claim, and then none.
type oneClaim struct{ items []worker.Item[*megabyte] }

func (q *oneClaim) Exchange(_ context.Context, _ *worker.Settlement, c worker.ClaimRequest) (items []worker.Item[*megabyte], err error) {
	if c.N > 0 {
		items, q.items = q.items, nil
	}
	return items, nil
}

func (q *oneClaim) Extend(context.Context, []worker.Held, time.Duration) (int64, error) {
	return 0, errors.New("not expected")
}
func (q *oneClaim) Reap(context.Context) (worker.Reaped, error) { return worker.Reaped{}, nil }

func (q *oneClaim) ClaimSuspects(context.Context, uuid.UUID, time.Duration, int) ([]worker.Item[*megabyte], error) {
	return nil, nil
}

func (q *oneClaim) NextDue(context.Context) (time.Duration, bool, error) { return 0, false, nil }
func (q *oneClaim) Waiter() engine.Waiter                                { return (&link{s: newStore()}).Waiter() }

// watcher is an observer that does something with every attempt.
func watcher(f func(worker.Attempt)) worker.Observers {
	return worker.Observers{{Attempted: func(some []worker.Attempt) {
		for _, a := range some {
			f(a)
		}
	}}}
}

// A payload is freed when its handler has returned, not when the last item of its claim is
// finished, nor when the worker gets another task; with an observer, when that has been
// notified.
func TestBodiesAreLetGo(t *testing.T) {
	for name, cfg := range map[string]worker.Config[*megabyte]{
		"unwatched": {}, "watched": {Observers: watcher(func(worker.Attempt) {})},
	} {
		t.Run(name, func(t *testing.T) {
			body := new(megabyte)
			kept := weak.Make(body)
			q := &oneClaim{[]worker.Item[*megabyte]{{ID: 1, Topic: "slow"}, {ID: 2, Topic: "quick", Body: body}}}
			held := true
			cfg.Queue, cfg.Logger, cfg.StopEmpty, cfg.Concurrency = q, slog.New(slog.NewTextHandler(io.Discard, nil)), true, 2
			cfg.Handle = func(_ context.Context, i worker.Item[*megabyte]) error {
				for tries := 0; i.Topic == "slow" && held && tries < 1000; tries++ {
					runtime.GC()
					held = kept.Value() != nil
				}
				return nil
			}
			_ = worker.New(cfg).Run(t.Context())
			if held {
				t.Error("the body of a finished item is still held")
			}
		})
	}
}

// Observers are notified once of every attempt, with its start, and a slow observer delays
// no ack, no heartbeat and no settlement of a stop.
func TestSlowObserver(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		var notified []worker.Attempt
		start := time.Now()
		r := newRig(s, worker.Config[payload]{
			Lease: time.Second, Grace: time.Second,
			Observers: watcher(func(a worker.Attempt) {
				notified = append(notified, a)
				time.Sleep(time.Minute)
			}),
		}, func(ctx context.Context, i item) error { return until(ctx, time.Duration(i.ID)*time.Second) })
		r.start()
		advance(1500 * time.Millisecond)
		wantPlace(t, s, ids[0], acked, 0)
		r.stop()
		advance(10 * time.Minute)
		select {
		case <-r.done:
		default:
			t.Error("Run has not returned")
		}
		if len(notified) != 3 {
			t.Fatalf("notified of %d attempts, want 3", len(notified))
		}
		for _, a := range notified {
			if a.Began.Sub(start) > 100*time.Millisecond || a.Took <= 0 {
				t.Errorf("%+v", a)
			}
		}
	})
}

// Observers are notified of an attempt when its outcome is committed, not before, and of how long it took itself.
func TestObserversHearWhatIsCommitted(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(2, "t", 0)
		notified := 0
		r := newRig(s, worker.Config[payload]{Observers: watcher(func(a worker.Attempt) {
			notified++
			if !near(a.Took, time.Second, 0.1) || a.Outcome != worker.OutcomeAcked {
				t.Errorf("%v took %v", a.Outcome, a.Took)
			}
			if n := s.count(acked); n != 2 {
				t.Errorf("notified of an ack while %d were committed", n)
			}
		})}, func(ctx context.Context, _ item) error { return until(ctx, time.Second) })
		r.start()
		defer r.end()
		advance(500 * time.Millisecond)
		r.link.hook(func(context.Context, *call) error { return errAway })
		advance(10 * time.Second)
		if notified != 0 {
			t.Errorf("notified of %d attempts during the outage, want none", notified)
		}
		r.link.hook(nil)
		advance(5 * time.Minute)
		if notified != 2 {
			t.Errorf("notified of %d attempts, want 2", notified)
		}
	})
}

// What a stopping loop cannot settle is reported as lost, once.
func TestObserversHearOfWhatIsLostAtAStop(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(2, "t", 0)
		var notified []worker.Outcome
		r := newRig(s, worker.Config[payload]{Observers: watcher(func(a worker.Attempt) { notified = append(notified, a.Outcome) })}, func(ctx context.Context, _ item) error {
			return until(ctx, time.Second)
		})
		r.start()
		advance(500 * time.Millisecond)
		r.link.hook(func(context.Context, *call) error { return errAway })
		advance(time.Second)
		r.end()
		if want := []worker.Outcome{worker.OutcomeLost, worker.OutcomeLost}; !slices.Equal(notified, want) {
			t.Errorf("notified of %v, want %v", notified, want)
		}
	})
}

// An observer that panics ends the program, as any panic does, and does not leave a loop
// that hangs.
func TestPanickingObserver(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 0)
		r := newRig(s, worker.Config[payload]{Observers: watcher(func(worker.Attempt) { panic("watching") })}, func(context.Context, item) error { return nil })
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_ = r.loop.Run(context.Background())
		}()
		advance(time.Minute)
		select {
		case v := <-panicked:
			if v != "watching" {
				t.Errorf("panicked with %v", v)
			}
		default:
			t.Error("neither panics nor works")
		}
	})
}
