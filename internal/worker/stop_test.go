package worker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// D-19: on a stop what was not started goes back at once and uncounted, although all
// handlers are busy; those may finish within the grace period, and their acks are flushed.
func TestStopReleasesTheUnbegunAtOnceAndLetsTheRestFinish(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(5000, "fast", -time.Hour)
		slow := s.add(50, "slow", 0)
		r := newRig(s, worker.Config[payload]{Concurrency: 2, BatchSize: 20, Grace: 20 * time.Second}, func(ctx context.Context, i item) error {
			if i.Topic == "slow" {
				return until(ctx, 10*time.Second)
			}
			return until(ctx, time.Millisecond)
		})
		r.start()
		for s.get(slow[5]).place != leased {
			advance(10 * time.Millisecond)
		}
		begun := len(r.executions(0))
		r.stop()
		advance(100 * time.Millisecond)
		if n := s.count(leased); n != r.running() || n == 0 {
			t.Errorf("right after the stop %d items are held while %d run", n, r.running())
		}
		advance(11 * time.Second)
		select {
		case <-r.done:
		default:
			t.Error("Run has not returned although its handlers have")
		}
		if n := len(r.executions(0)); n != begun {
			t.Errorf("%d handlers started after the stop", n-begun)
		}
		for _, x := range r.executions(0) {
			wantPlace(t, s, x.id, acked, 0)
		}
		if s.count(leased) != 0 {
			t.Errorf("%d items still held after the stop", s.count(leased))
		}
	})
}

// D-19: what does not finish within the grace period is cancelled with cause ErrStopping
// and released uncounted.
func TestStopCancelsAndReleasesAfterTheGracePeriod(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		r := newRig(s, worker.Config[payload]{Grace: 5 * time.Second}, func(ctx context.Context, i item) error {
			return until(ctx, time.Duration(i.ID)*4*time.Second)
		})
		r.start()
		advance(time.Second)
		begin := time.Now()
		r.end()
		if d := time.Since(begin); d < 5*time.Second || d > 5100*time.Millisecond {
			t.Errorf("stopping took %v, want the grace period of 5 s", d)
		}
		wantPlace(t, s, ids[0], acked, 0)
		for _, id := range ids[1:] {
			wantPlace(t, s, id, ready, 0)
			if x := r.executions(id)[0]; !errors.Is(context.Cause(x.ctx), worker.ErrStopping) {
				t.Errorf("cancelled with cause %v, want ErrStopping", context.Cause(x.ctx))
			}
		}
	})
}

// D-19: a handler longer than the lease keeps it during the grace period: the
// heartbeat ends last.
func TestHeartbeatBeatsDuringTheGracePeriod(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		slow := func(ctx context.Context, _ item) error { return until(ctx, 20*time.Second) }
		a := newRig(s, worker.Config[payload]{Lease: 3 * time.Second, Grace: 30 * time.Second}, slow)
		b := newRig(s, worker.Config[payload]{Lease: 3 * time.Second}, slow)
		a.start()
		advance(time.Second)
		b.start()
		a.end()
		wantPlace(t, s, id, acked, 0)
		wantRuns(t, b, id, 0)
		b.end()
	})
}

// D-19, D-18: a handler that returns late after its cancellation keeps its lease meanwhile:
// it is not started a second time before it ended.
func TestHeartbeatBeatsUntilTheCancelledHandlerReturns(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		a := newRig(s, worker.Config[payload]{Lease: time.Second, Grace: time.Second}, func(ctx context.Context, _ item) error {
			<-ctx.Done()
			time.Sleep(1900 * time.Millisecond) // cleaning up
			return ctx.Err()
		})
		b := newRig(s, worker.Config[payload]{Lease: time.Second}, func(context.Context, item) error { return nil })
		a.start()
		advance(time.Second)
		b.start()
		a.end()
		advance(5 * time.Second)
		wantPlace(t, s, id, acked, 0)
		if first, second := a.executions(id)[0], b.executions(id)[0]; second.start.Before(first.end) {
			t.Errorf("started again %v before the first execution ended", first.end.Sub(second.start))
		}
		b.end()
	})
}

// D-19: a handler that ignores its cancellation blocks nothing: Run returns, its item is
// released, others' acks are flushed, and it is logged.
func TestStopDoesNotWaitForAHandlerThatIgnoresIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(2, "t", 0)
		never := make(chan struct{})
		r := newRig(s, worker.Config[payload]{Grace: time.Second}, func(ctx context.Context, i item) error {
			if i.ID == ids[0] {
				<-never
				return nil
			}
			return until(ctx, 1500*time.Millisecond)
		})
		r.start()
		advance(time.Second)
		begin := time.Now()
		r.end()
		if d := time.Since(begin); d > 4*time.Second {
			t.Errorf("stopping took %v", d)
		}
		wantPlace(t, s, ids[0], ready, 0)
		wantPlace(t, s, ids[1], acked, 0)
		if len(r.logs.lines("level=ERROR", "count=1")) != 1 {
			t.Error("the handler that did not return is not in the log")
		}
		close(never)
	})
}

// D-19, D-6: what was finished before and during a stop is settled once the database
// answers, each item once, and without a high rate of tries.
func TestStopFlushesAcksThroughAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		never := make(chan struct{})
		r := newRig(s, worker.Config[payload]{Grace: 5 * time.Second}, func(_ context.Context, i item) error {
			switch i.ID {
			case ids[0]:
				time.Sleep(2 * time.Second) // ends while the database is away
			case ids[1]:
				time.Sleep(4 * time.Second) // ends in the grace period
			default:
				<-never
			}
			return nil
		})
		r.start()
		advance(time.Second)
		r.link.hook(func(_ context.Context, c *call) error {
			if c.op == "exchange" {
				return errAway
			}
			return nil
		})
		advance(2 * time.Second)
		tries := len(r.link.calls("exchange"))
		r.stop()
		advance(9 * time.Second) // grace and cancellation are over, the outage is not
		if n := len(r.link.calls("exchange")) - tries; n > 60 {
			t.Errorf("%d tries in 9 s against a database that is away", n)
		}
		r.link.hook(nil)
		<-r.done
		wantPlace(t, s, ids[0], acked, 0)
		wantPlace(t, s, ids[1], acked, 0)
		wantPlace(t, s, ids[2], ready, 0)
		close(never)
	})
}

// D-19: Run returns in bounded time even if the database never answers again.
func TestStopIsBoundedWithoutADatabase(t *testing.T) {
	for name, gone := range map[string]func(context.Context) error{
		"refuses": func(context.Context) error { return errAway },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				s.add(3, "t", 0)
				r := newRig(s, worker.Config[payload]{Grace: 5 * time.Second}, func(ctx context.Context, _ item) error { return until(ctx, time.Hour) })
				r.start()
				advance(time.Second)
				r.link.hook(func(ctx context.Context, _ *call) error { return gone(ctx) })
				begin := time.Now()
				r.end()
				if d := time.Since(begin); d > 20*time.Second {
					t.Errorf("stopping took %v", d)
				}
			})
		})
	}
}

// D-19: without a database a loop whose handlers have ended stops with its grace period, and tries
// to settle until then; with a short one it tries for 10 s.
func TestStopEndsWithTheGracePeriod(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{20 * time.Second: 20 * time.Second, time.Second: 11 * time.Second} {
		bubble(t, func(t *testing.T, s *store) {
			s.add(1, "t", 0)
			r := newRig(s, worker.Config[payload]{Grace: grace}, func(ctx context.Context, _ item) error { return until(ctx, 2*time.Second) })
			r.start()
			advance(time.Second)
			r.link.hook(func(context.Context, *call) error { return errAway })
			begin := time.Now()
			r.end()
			if d := time.Since(begin); d < want-time.Second || d > want+2*time.Second {
				t.Errorf("with a grace period of %v stopping took %v, want %v", grace, d, want)
			}
		})
	}
}

// D-19: items of a claim that was under way when the stop began go back.
func TestClaimUnderWayAtTheStopIsReleased(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(5, "t", 0)
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		r.link.after = func(_ context.Context, c *call) error {
			if c.op == "exchange" && c.got > 0 {
				time.Sleep(time.Second)
			}
			return nil
		}
		r.start()
		advance(100 * time.Millisecond)
		r.end()
		for _, id := range ids {
			wantPlace(t, s, id, ready, 0)
		}
		wantRuns(t, r, 0, 0)
	})
}

// D-19: a loop that is stopped before it started returns at once.
func TestStopBeforeTheStart(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 0)
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.loop.Run(ctx); err != nil {
			t.Error(err)
		}
		wantRuns(t, r, 0, 0)
	})
}

// D-19: an idle loop stops at once.
func TestIdleLoopStopsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMin: time.Hour}, func(context.Context, item) error { return nil })
		r.start()
		advance(time.Minute)
		begin := time.Now()
		r.end()
		if d := time.Since(begin); d > 10*time.Millisecond {
			t.Errorf("stopping took %v", d)
		}
	})
}

// D-16: on a stop, released items keep their place in the queue.
func TestReleasedItemsKeepTheirPlace(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", -time.Minute)
		before := s.get(ids[0]).at
		s.add(1, "t", 0)
		r := newRig(s, worker.Config[payload]{Grace: time.Millisecond, Concurrency: 3}, func(ctx context.Context, _ item) error { return until(ctx, time.Hour) })
		r.start()
		advance(time.Second)
		r.end()
		if !slices.ContainsFunc(ids, func(id int64) bool { return len(r.executions(id)) > 0 }) {
			t.Fatal("nothing ran")
		}
		for _, id := range ids {
			if at := s.get(id).at; !at.Equal(before) {
				t.Errorf("item %d was put back at %v, it was at %v", id, at, before)
			}
		}
	})
}
