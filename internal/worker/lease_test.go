package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// until waits for a context's end or for d.
func until(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// OBX-059, D-18: a handler three times as long as the lease runs once and acks, though
// another loop reaps expired leases all the time.
func TestHandlerThreeTimesAsLongAsItsLeaseRunsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		slow := func(ctx context.Context, _ item) error { return until(ctx, 30*time.Second) }
		cfg := worker.Config[payload]{Lease: 10 * time.Second}
		a, b := newRig(s, cfg, slow), newRig(s, cfg, slow)
		a.start()
		advance(time.Second)
		b.start()
		advance(time.Minute)
		wantPlace(t, s, id, acked, 0)
		if n := len(a.executions(0)) + len(b.executions(0)); n != 1 {
			t.Errorf("%d executions, want 1", n)
		}
		a.end()
		b.end()
		if s.get(id).lapses != 0 {
			t.Error("the lease lapsed")
		}
	})
}

// D-18: the lease is extended at about a third of its length, with as few statements as
// possible: one for everything held.
func TestLeasesAreExtendedTogetherAtAThird(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(100, "t", 0)
		r := newRig(s, worker.Config[payload]{Lease: 30 * time.Second, Concurrency: 100}, func(ctx context.Context, _ item) error { return until(ctx, 95*time.Second) })
		r.start()
		defer r.end()
		advance(2 * time.Minute)
		calls := r.link.calls("extend")
		if len(calls) < 7 || len(calls) > 11 {
			t.Errorf("%d extensions in 95 s of a 30 s lease, want about 9", len(calls))
		}
		for _, c := range calls {
			if c.want != 100 {
				t.Errorf("an extension of %d items, want all 100 in one", c.want)
			}
		}
	})
}

// D-18: when the database reports that the lease is lost, the handler's context ends with
// cause ErrLeaseLost within a third of the lease, and only that claim's.
func TestLostLeaseCancelsItsHandlers(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		first := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Lease: 30 * time.Second}, func(ctx context.Context, i item) error {
			if i.Retry > 0 {
				return nil
			}
			if err := until(ctx, time.Minute); err != nil {
				return context.Cause(ctx)
			}
			return nil
		})
		r.start()
		defer r.end()
		advance(5 * time.Second)
		second := s.add(1, "t", 0)[0] // a claim of its own
		advance(5 * time.Second)
		begin := time.Now()
		s.endLease(first)
		advance(11 * time.Second)
		lost := r.executions(first)[0]
		if !errors.Is(lost.err, worker.ErrLeaseLost) {
			t.Fatalf("the handler ended with %v, want ErrLeaseLost", lost.err)
		}
		if d := lost.end.Sub(begin); d > 10*time.Second {
			t.Errorf("cancelled after %v, want at most a third of the lease", d)
		}
		advance(2 * time.Minute)
		wantPlace(t, s, first, acked, 0)
		wantPlace(t, s, second, acked, 0)
		wantRuns(t, r, second, 1)
		if c := r.loop.Stats().Counts(); c.Lost != 1 {
			t.Errorf("%d leases lost, want 1", c.Lost)
		}
		if len(r.logs.lines("level=WARN", "lease lost", "message_id=message-1")) != 1 {
			t.Error("the lost lease was not logged")
		}
	})
}

// D-18, D-6: when the database cannot be reached, or does not answer at all, handlers are
// cancelled the moment their lease is over by this process's clock.
func TestSilentDatabaseCancelsHandlersWhenTheirLeaseEnds(t *testing.T) {
	for name, silence := range map[string]func(context.Context) error{
		"refuses": func(context.Context) error { return errAway },
		"hangs":   func(ctx context.Context) error { return until(ctx, 10*time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				id := s.add(1, "t", 0)[0]
				r := newRig(s, worker.Config[payload]{Lease: 30 * time.Second, Grace: time.Second}, func(ctx context.Context, _ item) error {
					_ = until(ctx, 10*time.Minute)
					return context.Cause(ctx)
				})
				r.start()
				advance(15 * time.Second) // extended at 10 s
				extended := s.get(id).until
				r.link.hook(func(ctx context.Context, c *call) error {
					if c.nth > 1 {
						return silence(ctx)
					}
					return nil
				})
				advance(time.Until(extended) - time.Millisecond)
				if r.running() != 1 {
					t.Error("cancelled although its lease was not over")
				}
				advance(2 * time.Millisecond)
				if r.running() != 0 {
					t.Fatal("still running after the end of its lease")
				}
				if x := r.executions(id)[0]; !errors.Is(x.err, worker.ErrLeaseLost) {
					t.Errorf("ended with %v, want ErrLeaseLost", x.err)
				}
				advance(time.Second)
				if c := r.loop.Stats().Counts(); c.Lost != 1 {
					t.Errorf("%d leases lost, want 1", c.Lost)
				}
				r.link.hook(nil)
				advance(20 * time.Minute)
				r.end()
			})
		})
	}
}

// D-18: one failed extension is tried again well before the lease ends.
func TestFailedExtensionIsTriedAgainInTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Lease: 30 * time.Second}, func(ctx context.Context, _ item) error { return until(ctx, time.Minute) })
		r.link.before = func(_ context.Context, c *call) error {
			if c.op == "extend" && c.nth%4 != 0 {
				return errAway
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(90 * time.Second)
		wantPlace(t, s, id, acked, 0)
		wantRuns(t, r, id, 1)
	})
}

// D-18: prefetched items behind a slow handler keep their lease, so that they
// run with enough of it left, and none is lost.
func TestPrefetchedItemsBehindASlowHandlerKeepTheirLease(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		const lease = 9 * time.Second
		s.add(20_000, "fast", -time.Hour)
		slow := s.add(400, "slow", 0)
		r := newRig(s, worker.Config[payload]{Lease: lease, Concurrency: 2, BatchSize: 50}, func(ctx context.Context, i item) error {
			d := time.Millisecond
			if i.Topic == "slow" {
				d = 4 * time.Second
			}
			left := time.Until(s.get(i.ID).until)
			if left < lease/3 {
				t.Errorf("item %d started with %v of its lease left", i.ID, left)
			}
			return until(ctx, d)
		})
		r.start()
		defer r.end()
		advance(30 * time.Minute)
		for _, id := range slow {
			wantPlace(t, s, id, acked, 0)
			wantRuns(t, r, id, 1)
		}
	})
}

// D-18: a handler never starts with less than a third of its lease left: when the database
// stops answering, what was claimed ahead goes back unstarted.
func TestHandlerNeverStartsWithLittleOfItsLeaseLeft(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		const lease = 30 * time.Second
		s.add(5000, "fast", -time.Hour)
		s.add(100, "slow", 0)
		r := newRig(s, worker.Config[payload]{Lease: lease, Concurrency: 4, BatchSize: 50, Grace: time.Second}, func(ctx context.Context, i item) error {
			d := time.Millisecond
			if i.Topic == "slow" {
				d = 7 * time.Second
			}
			if left := time.Until(s.get(i.ID).until); left < lease/3 {
				t.Errorf("item %d started with %v of its lease left", i.ID, left)
			}
			return until(ctx, d)
		})
		r.start()
		for s.get(5020).place != leased { // until some slow ones were claimed ahead
			advance(10 * time.Millisecond)
		}
		r.link.hook(func(context.Context, *call) error { return errAway })
		advance(time.Minute)
		if s.count(leased) == 0 || r.running() != 0 {
			t.Errorf("%d leased and %d running, want some leased and none running", s.count(leased), r.running())
		}
		r.link.hook(nil)
		advance(10 * time.Minute)
		if n := s.count(acked); n != 5100 {
			t.Errorf("%d acked, want all", n)
		}
		r.end()
	})
}

// D-18: an answer that arrives late counts from the request: the loop never assumes a lease
// longer than the database grants it.
func TestLeaseIsCountedFromBeforeTheRequest(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Lease: 30 * time.Second, Grace: time.Second}, func(ctx context.Context, _ item) error {
			_ = until(ctx, 10*time.Minute)
			return context.Cause(ctx)
		})
		r.link.after = func(ctx context.Context, c *call) error {
			if c.op == "exchange" && c.got > 0 {
				return until(ctx, 8*time.Second)
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(8 * time.Second)
		r.link.hook(func(context.Context, *call) error { return errAway })
		advance(time.Until(s.get(id).until) + time.Millisecond)
		if r.running() != 0 {
			t.Error("the handler outlives its lease")
		}
		r.link.hook(nil)
	})
}

// D-18: items that are settled while their claim is being extended are not taken for lost
// ones.
func TestSettledItemsAreNotMistakenForLostOnes(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(40, "t", 0)
		r := newRig(s, worker.Config[payload]{Lease: time.Second, Concurrency: 40}, func(ctx context.Context, i item) error {
			return until(ctx, time.Duration(i.ID)*200*time.Millisecond)
		})
		r.link.before = func(ctx context.Context, c *call) error {
			if c.op == "extend" {
				return until(ctx, 150*time.Millisecond)
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(time.Minute)
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
			wantRuns(t, r, id, 1)
		}
		if c := r.loop.Stats().Counts(); c.Lost != 0 {
			t.Errorf("%d claims lost", c.Lost)
		}
		synctest.Wait()
	})
}
