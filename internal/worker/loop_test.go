package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// OBX-060, D-20: as many handlers run at once as are allowed, and never more.
func TestConcurrencyIsReachedAndNeverExceeded(t *testing.T) {
	for _, n := range []int{1, 2, 7, 64} {
		bubble(t, func(t *testing.T, s *store) {
			s.add(20*n, "t", 0)
			r := newRig(s, worker.Config[payload]{Concurrency: n}, func(ctx context.Context, _ item) error { return until(ctx, time.Second) })
			r.start()
			defer r.end()
			advance(time.Minute)
			if r.most != n {
				t.Errorf("up to %d handlers at once, want %d", r.most, n)
			}
			if got := s.count(acked); got != 20*n {
				t.Errorf("%d acked, want %d", got, 20*n)
			}
		})
	}
}

// D-20, OBX-026: a loop never has more unfinished items than handlers plus one
// batch, and no claim asks for more than a batch.
func TestPrefetchIsBoundedByConcurrencyPlusOneBatch(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		const slots, batch = 5, 30
		s.add(3000, "t", 0)
		r := newRig(s, worker.Config[payload]{Concurrency: slots, BatchSize: batch}, func(ctx context.Context, _ item) error { return until(ctx, time.Millisecond) })
		claimed, most := 0, 0
		r.link.after = func(_ context.Context, c *call) error {
			if c.want > batch {
				t.Errorf("claimed %d at once", c.want)
			}
			if c.op == "exchange" {
				claimed += c.got
				most = max(most, claimed-r.finished())
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(time.Minute)
		if n := s.count(acked); n != 3000 {
			t.Errorf("%d acked", n)
		}
		if most > slots+batch {
			t.Errorf("held %d unfinished items, want at most %d", most, slots+batch)
		}
		if most < slots+batch/2 {
			t.Errorf("held %d unfinished items at most: fast handlers are not fed ahead", most)
		}
	})
}

// D-20: with slow handlers a loop holds little more than it is working on, so that other
// processes get the rest.
func TestSlowHandlersDoNotHoard(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1000, "t", 0)
		r := newRig(s, worker.Config[payload]{Concurrency: 2, BatchSize: 500}, func(ctx context.Context, _ item) error { return until(ctx, 10*time.Second) })
		r.start()
		defer r.end()
		for range 60 {
			advance(3 * time.Second)
			if n := s.count(leased); n > 4 {
				t.Fatalf("%d items held for 2 slow handlers", n)
			}
		}
		if n := s.count(acked); n < 30 {
			t.Errorf("%d acked in three minutes, want 36 or so", n)
		}
	})
}

// D-20: two loops share the work of slow handlers about evenly.
func TestTwoLoopsShareSlowWork(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(100, "t", 0)
		slow := func(ctx context.Context, _ item) error { return until(ctx, time.Second) }
		a := newRig(s, worker.Config[payload]{Concurrency: 2}, slow)
		b := newRig(s, worker.Config[payload]{Concurrency: 2}, slow)
		a.start()
		b.start()
		advance(27 * time.Second)
		a.end()
		b.end()
		if n := s.count(acked); n != 100 {
			t.Errorf("%d acked after 27 s of 100 s of work on four handlers", n)
		}
	})
}

// D-20: after a full claim the loop claims again at once: it does not sleep while there is
// a backlog of fast work.
func TestBacklogIsDrainedWithoutPauses(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(20_000, "t", 0)
		r := newRig(s, worker.Config[payload]{Concurrency: 8, BatchSize: 100, PollMin: time.Hour}, func(context.Context, item) error { return nil })
		r.link.before = func(ctx context.Context, c *call) error { return until(ctx, time.Millisecond) } // a round trip
		r.start()
		defer r.end()
		advance(2 * time.Second)
		if n := s.count(acked); n != 20_000 {
			t.Errorf("%d of 20000 acked after 2 s", n)
		}
		// 200 claims would do; a claim for a few items now and then is fine.
		if n := len(r.link.calls("exchange")); n > 400 {
			t.Errorf("%d round trips for 200 batches", n)
		}
	})
}

// OBX-122, D-20: an idle loop polls less and less often, down to PollMax, and starts over
// once it claimed something.
func TestIdleLoopPollsLessAndLessOften(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMin: 100 * time.Millisecond, PollMax: 5 * time.Second}, func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		advance(time.Minute)
		calls := r.link.calls("exchange")
		// The first polls, then 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 and about eleven of 5 s.
		if len(calls) < 15 || len(calls) > 25 {
			t.Errorf("%d polls in a minute", len(calls))
		}
		last := time.Duration(0)
		for i := 2; i < len(calls); i++ {
			gap := calls[i].at.Sub(calls[i-1].at)
			if gap < last*7/10 || gap > 5600*time.Millisecond {
				t.Errorf("poll %d came %v after the last, which came after %v", i, gap, last)
			}
			last = gap
		}
		if !near(last, 5*time.Second, 0.11) {
			t.Errorf("the last pause was %v, want PollMax ± 10 %%", last)
		}
		s.add(1, "t", 0)
		advance(6 * time.Second)
		calls = r.link.calls("exchange")
		for i, c := range calls {
			if c.got > 0 && i+3 < len(calls) && calls[i+3].at.Sub(c.at) > 500*time.Millisecond {
				t.Error("still polls rarely although something came")
			}
		}
		if s.count(acked) != 1 {
			t.Error("the item was not found")
		}
	})
}

// D-20: an idle loop does not poll at a high rate a queue that reports due items and
// returns none, because another transaction has them locked.
func TestUnclaimableWorkIsNotHammered(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 0)
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		r.link.before = func(_ context.Context, c *call) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.entries[0].at = time.Now()
			if c.op == "exchange" { // locked while the loop polls
				s.entries[0].at = time.Now().Add(time.Hour)
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(time.Minute)
		if n := len(r.link.calls("exchange")); n > 300 {
			t.Errorf("%d polls in a minute", n)
		}
	})
}

// D-20: the results of one claim are settled together once it is complete,
// together with the next claim.
func TestResultsOfAClaimAreSettledTogether(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(64, "t", 0)
		r := newRig(s, worker.Config[payload]{FlushDelay: 50 * time.Millisecond}, func(ctx context.Context, i item) error {
			return until(ctx, time.Duration(i.ID%4)*10*time.Millisecond)
		})
		r.start()
		defer r.end()
		advance(time.Second)
		settled := 0
		for _, c := range r.link.calls("exchange") {
			if c.done.Len() > 0 {
				settled++
			}
		}
		if settled != 1 {
			t.Errorf("settled in %d exchanges, want 1", settled)
		}
		if s.count(acked) != 64 {
			t.Errorf("%d acked", s.count(acked))
		}
	})
}

// D-20: a finished item waits only a short time for others of its claim.
func TestFinishedItemWaitsOnlyALittleForOthers(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(2, "t", 0)
		const delay = 5 * time.Millisecond
		r := newRig(s, worker.Config[payload]{FlushDelay: delay, PollMin: time.Hour}, func(ctx context.Context, i item) error {
			return until(ctx, time.Duration(i.ID-1)*10*time.Second)
		})
		r.start()
		defer r.end()
		advance(delay - time.Millisecond)
		wantPlace(t, s, ids[0], leased, 0)
		advance(10 * delay)
		wantPlace(t, s, ids[0], acked, 0)
		wantPlace(t, s, ids[1], leased, 0)
		advance(10 * time.Second)
		wantPlace(t, s, ids[1], acked, 0)
	})
}

// D-855, D-862: a database that is slow is asked once for the items of two exchanges, at a rate at which one that is
// quick is asked for each at once; at a high rate it is asked every 2 ms.
func TestSlowDatabaseIsAskedLess(t *testing.T) {
	const items = 4000
	for _, tt := range []struct {
		every, exchange time.Duration
		most, least     int
	}{
		{2 * time.Millisecond, 4 * time.Millisecond, items / 3, 1},
		{2 * time.Millisecond, 100 * time.Microsecond, 4 * items, items},
		{250 * time.Microsecond, 100 * time.Microsecond, items / 5, items / 8},
		{250 * time.Microsecond, 4 * time.Millisecond, items / 20, items / 50},
	} {
		t.Run(fmt.Sprint(tt.every, " ", tt.exchange), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				r := newRig(s, worker.Config[payload]{}, quickly)
				r.link.before = func(ctx context.Context, c *call) error {
					if c.op == "exchange" {
						return engine.Sleep(ctx, tt.exchange)
					}
					return nil
				}
				r.start()
				defer r.end()
				for range items {
					s.add(1, "t", 0)
					s.notify()
					advance(tt.every)
				}
				advance(time.Second)
				if n := len(r.link.calls("exchange")); n > tt.most || n < tt.least {
					t.Errorf("%d exchanges for %d items", n, items)
				}
				if n := s.count(acked); n != items {
					t.Errorf("%d acked", n)
				}
			})
		})
	}
}

// D-856: a loop that cannot subscribe, as a producer's transaction is open, soon polls for what that and others commit,
// which notifies nobody; while nothing comes it polls less and less often.
func TestOpenTransactionHidesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{}, quickly)
		r.link.refused = fmt.Errorf("refused: %w", engine.ErrUncommitted)
		r.start()
		defer r.end()
		for range 10 {
			advance(time.Millisecond)
			id := s.add(1, "t", 0)[0]
			advance(10 * time.Millisecond)
			wantPlace(t, s, id, acked, 0)
		}
		before := len(r.link.calls("exchange"))
		advance(time.Minute)
		if n := len(r.link.calls("exchange")) - before; n > 80 {
			t.Errorf("%d exchanges in a minute in which nothing came", n)
		}
	})
}

// D-6, D-15: while the database does not answer for an hour, finished work is kept and its
// ack retried until it succeeds; its handler does not run again, nothing new is claimed in
// between, and the loop recovers by itself.
func TestAckIsRetriedThroughAnOutage(t *testing.T) {
	for name, outage := range map[string]func(*rig){
		"before it took effect": func(r *rig) { r.link.before, r.link.after = r.link.after, nil },
		"after it took effect":  func(*rig) {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				ids := s.add(3, "t", 0)
				r := newRig(s, worker.Config[payload]{Lease: 2 * time.Hour}, func(ctx context.Context, i item) error { return until(ctx, time.Duration(i.ID)*time.Second) })
				begin := time.Now()
				r.link.after = func(_ context.Context, c *call) error {
					if at := time.Since(begin); at > 500*time.Millisecond && at < time.Hour && c.op == "exchange" {
						return errAway
					}
					return nil
				}
				outage(r)
				r.start()
				defer r.end()
				advance(10 * time.Second)
				late := s.add(5, "t", 0)
				advance(time.Hour - 10*time.Second - time.Millisecond)
				wantRuns(t, r, 0, 3)
				calls := r.link.calls("exchange")
				checkBackoff(t, calls)
				for _, c := range calls {
					if c.err != nil && c.done.Len() > 0 && c.nth > 10 && c.want > 0 {
						t.Error("claimed something new although acks were outstanding")
					}
				}
				advance(45 * time.Second)
				for _, id := range append(ids, late...) {
					wantPlace(t, s, id, acked, 0)
				}
				for _, id := range ids {
					wantRuns(t, r, id, 1)
				}
				if c := r.loop.Stats().Counts(); c.Errors == 0 || time.Since(c.LastSuccess) > time.Minute {
					t.Errorf("stats %+v", c)
				}
				if len(r.logs.lines("level=WARN", "unavailable")) == 0 {
					t.Error("the outage is not in the log")
				}
			})
		})
	}
}

// checkBackoff checks the delays between failed calls in a row: 0.25 s growing to
// 20 … 30 s, not all alike.
func checkBackoff(t *testing.T, calls []*call) {
	t.Helper()
	var pauses []time.Duration
	for i := 1; i < len(calls); i++ {
		if calls[i-1].err != nil {
			pauses = append(pauses, calls[i].at.Sub(calls[i-1].at))
		}
	}
	if len(pauses) < 100 || len(pauses) > 220 {
		t.Fatalf("%d tries in an hour, want one in about 25 s", len(pauses))
	}
	if !near(pauses[0], 250*time.Millisecond, 0.21) || !near(pauses[2], time.Second, 0.21) {
		t.Errorf("pauses begin with %v", pauses[:4])
	}
	seen := map[time.Duration]bool{}
	for _, p := range pauses[10:] {
		if p < 20*time.Second || p > 30*time.Second {
			t.Errorf("a pause of %v, want 20 … 30 s", p)
		}
		seen[p] = true
	}
	if len(seen) < len(pauses)/2 {
		t.Error("no jitter")
	}
}

// D-6: the loop survives an outage that begins while nothing runs, and counts it.
func TestClaimsAreRetriedThroughAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		begin := time.Now()
		r.link.before = func(context.Context, *call) error {
			if time.Since(begin) < time.Hour {
				return errors.New("something no engine classifies")
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(time.Hour - time.Millisecond)
		checkBackoff(t, r.link.calls("exchange"))
		if c := r.loop.Stats().Counts(); !c.LastSuccess.IsZero() || c.Errors < 100 {
			t.Errorf("stats %+v", c)
		}
		if len(r.logs.lines("level=ERROR", "something no engine classifies")) == 0 {
			t.Error("an error that is no outage is not in the log as one")
		}
		advance(31 * time.Second)
		wantPlace(t, s, id, acked, 0)
	})
}

// D-6: a short outage costs a short delay only, also after an earlier outage.
func TestBackoffStartsOverAfterASuccess(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMin: time.Second}, func(context.Context, item) error { return nil })
		r.link.before = func(_ context.Context, c *call) error {
			if c.op == "exchange" && (c.nth < 10 || c.nth == 30) {
				return errAway
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(10 * time.Minute)
		calls := r.link.calls("exchange")
		if gap := calls[30].at.Sub(calls[29].at); !near(gap, 250*time.Millisecond, 0.21) {
			t.Errorf("a pause of %v after a single failure, want 250 ms", gap)
		}
	})
}

// OBX-103: claims are logged at debug level with their number and owner.
func TestClaimsAreLogged(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(7, "t", 0)
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		r.start()
		advance(time.Second)
		r.end()
		owner := r.executions(0)[0].owner.String()
		if len(r.logs.lines("level=DEBUG", "claimed", "count=7", owner)) != 1 {
			t.Error("the claim is not in the log")
		}
	})
}

// OBX-057: a handler gets the item as it was claimed, and a context that is not done.
func TestHandlerGetsTheWholeItem(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "topic", 0)[0]
		s.entries[0].retry = 4
		r := newRig(s, worker.Config[payload]{}, func(ctx context.Context, i item) error {
			if ctx.Err() != nil || i.ID != id || i.Topic != "topic" || i.Retry != 4 || i.MessageID.String() != "message-1" || i.Body.owner == (uuid.UUID{}) {
				t.Errorf("got %+v with context error %v", i, ctx.Err())
			}
			return nil
		})
		r.start()
		advance(time.Second)
		r.end()
		wantRuns(t, r, id, 1)
	})
}

// Two counters that are summed keep the later success.
func TestCountsAdd(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	a := worker.Counts{Claimed: 1, Acked: 2, Retried: 3, Failed: 4, Released: 5, Unhandled: 6, Reaped: 7, Lost: 8, Errors: 9, LastSuccess: late}
	b := worker.Counts{Claimed: 10, Acked: 20, Retried: 30, Failed: 40, Released: 50, Unhandled: 60, Reaped: 70, Lost: 80, Errors: 90, LastSuccess: early}
	want := worker.Counts{Claimed: 11, Acked: 22, Retried: 33, Failed: 44, Released: 55, Unhandled: 66, Reaped: 77, Lost: 88, Errors: 99, LastSuccess: late}
	if got := a.Add(b); got != want || b.Add(a) != want || got.Handled() != 66 {
		t.Errorf("sum %+v", got)
	}
}
