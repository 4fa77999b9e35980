package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// asleep is a configuration that would poll only after an hour.
func asleep() worker.Config[payload] {
	return worker.Config[payload]{PollMin: time.Hour, PollMax: time.Hour}
}

// noDueTime makes reading the next due time fail, which would hide a wake-up that was missed.
func noDueTime(_ context.Context, c *call) error {
	if c.op == "nextdue" {
		return errAway
	}
	return nil
}

// D-20: a notification wakes a sleeping loop: work is picked up before the next poll.
func TestRingWakesTheLoop(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, asleep(), func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		for range 5 {
			advance(time.Minute)
			id := s.add(1, "t", 0)[0]
			s.notify()
			advance(time.Millisecond)
			wantPlace(t, s, id, acked, 0)
		}
	})
}

// D-20: work that is committed between the last poll and the subscription, and so notifies
// nobody, is found by a poll after the subscription.
func TestWorkThatComesWhileArmingIsFound(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, asleep(), func(context.Context, item) error { return nil })
		added := 0
		r.link.before = noDueTime
		r.link.subscribed = func() {
			if added < 3 {
				added++
				s.add(1, "t", 0)
				s.notify() // nobody has subscribed yet
			}
		}
		r.start()
		defer r.end()
		advance(time.Second)
		if n := s.count(acked); added == 0 || n != added {
			t.Errorf("%d of %d acked", n, added)
		}
	})
}

// D-20: the same after a burst during which the loop was not subscribed.
func TestLoopListensAgainAfterABurst(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		cfg := asleep()
		cfg.BatchSize, cfg.Concurrency = 4, 4
		r := newRig(s, cfg, func(context.Context, item) error { return nil })
		arms := 0
		r.link.before = noDueTime
		r.link.subscribed = func() {
			arms++
			if arms == 2 { // the first after the burst
				s.add(1, "t", 0)
				s.notify()
			}
		}
		r.start()
		defer r.end()
		advance(time.Second)
		s.add(100, "t", 0)
		s.notify()
		advance(time.Second)
		if n := s.count(acked); n != 101 {
			t.Errorf("%d of 101 acked", n)
		}
	})
}

// D-20: and after a burst that the poll after the subscription found.
func TestLoopListensAgainAfterABurstThatCameWhileArming(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		cfg := asleep()
		cfg.BatchSize, cfg.Concurrency = 4, 4
		r := newRig(s, cfg, func(context.Context, item) error { return nil })
		r.link.before = noDueTime
		arms := 0
		r.link.subscribed = func() {
			if arms++; arms == 1 {
				s.add(8, "t", 0)
			}
		}
		r.start()
		defer r.end()
		advance(time.Second)
		s.add(1, "t", 0)
		s.notify()
		advance(time.Second)
		if n := s.count(acked); n != 9 {
			t.Errorf("%d of 9 acked", n)
		}
	})
}

// D-20: a notification is not lost that arrives while a result waits for its batch, while
// handlers run, or together with the end of one.
func TestRingWhileBusyIsNotLost(t *testing.T) {
	for _, at := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 12 * time.Millisecond, 14 * time.Millisecond, 15 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond} {
		t.Run(at.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				r := newRig(s, asleep(), func(ctx context.Context, i item) error {
					return until(ctx, time.Duration(i.ID%3)*10*time.Millisecond)
				})
				r.start()
				defer r.end()
				r.link.hook(noDueTime)
				advance(time.Minute)
				for range 20 {
					s.add(3, "t", 0)
					s.notify()
					advance(at)
					s.add(1, "t", 0)
					s.notify()
					advance(200 * time.Millisecond)
					if n := s.count(ready); n != 0 {
						t.Fatalf("%d items wait although the notifier rang", n)
					}
				}
			})
		})
	}
}

// D-11, D-20: an item due in 300 ms is picked up then, not at the next poll;
// also when it is added while the loop sleeps.
func TestScheduledWorkIsPickedUpWhenDue(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 300*time.Millisecond)
		s.add(1, "t", 17*time.Minute)
		r := newRig(s, asleep(), func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		advance(time.Minute)
		s.add(1, "t", time.Minute)
		s.notify()
		advance(20 * time.Minute)
		for id := range int64(3) {
			due := s.get(id + 1).at
			if runs := wantRuns(t, r, id+1, 1); len(runs) == 1 {
				if late := runs[0].start.Sub(due); late < 0 || late > 2*time.Millisecond {
					t.Errorf("item %d ran %v after it was due", id+1, late)
				}
			}
		}
	})
}

// D-20: a retry of the loop's own is picked up when it is due, not at the poll.
func TestRetryIsPickedUpWhenDue(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, asleep(), once(worker.RetryAfter(90*time.Second, nil)))
		r.start()
		defer r.end()
		advance(91 * time.Second)
		wantPlace(t, s, id, acked, 1)
	})
}

// D-6: if the next due time cannot be read the loop still polls.
func TestPollIsTheBackstop(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMin: time.Second, PollMax: 10 * time.Second}, func(context.Context, item) error { return nil })
		r.link.before = func(_ context.Context, c *call) error {
			if c.op == "nextdue" {
				return errAway
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(time.Minute)
		id := s.add(1, "t", 0)[0] // without a notification
		advance(11 * time.Second)
		wantPlace(t, s, id, acked, 0)
	})
}

// D-12: what Reap puts back is picked up at once.
func TestReapedWorkIsPickedUpAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		s.mu.Lock()
		s.claim(uuid.New(), time.Minute, 1)
		s.mu.Unlock()
		r := newRig(s, worker.Config[payload]{PollMin: 10 * time.Minute, PollMax: 10 * time.Minute}, func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		advance(13 * time.Minute)
		for _, c := range r.link.calls("reap") {
			if x := r.executions(id); c.got > 0 && (len(x) != 1 || x[0].start.Sub(c.at) > time.Millisecond) {
				t.Errorf("reaped but not run at once: %v", x)
			}
		}
		wantPlace(t, s, id, acked, 0)
	})
}

// wantReturned fails the test unless Run has returned by itself.
func wantReturned(t *testing.T, r *rig) {
	t.Helper()
	select {
	case <-r.done:
	default:
		t.Error("Run has not returned")
	}
}

// D-19: StopEmpty returns once nothing is due and nothing runs; what is
// scheduled for later stays.
func TestStopEmptyReturnsWhenNothingIsDueOrRunning(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1000, "t", 0)
		later := s.add(1, "t", time.Hour)[0]
		r := newRig(s, worker.Config[payload]{StopEmpty: true, BatchSize: 50, Concurrency: 10}, func(ctx context.Context, i item) error {
			return until(ctx, time.Duration(i.ID%7)*time.Millisecond)
		})
		r.start()
		advance(10 * time.Second)
		wantReturned(t, r)
		if n := s.count(acked); n != 1000 {
			t.Errorf("%d acked", n)
		}
		wantPlace(t, s, later, ready, 0)
	})
}

// D-19: StopEmpty on an empty queue returns at once.
func TestStopEmptyOnAnEmptyQueue(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		cfg := asleep()
		cfg.StopEmpty = true
		r := newRig(s, cfg, func(context.Context, item) error { return nil })
		r.start()
		advance(time.Millisecond)
		wantReturned(t, r)
	})
}

// D-19: under StopEmpty what is put back and due at once runs again before Run returns.
func TestStopEmptyRunsImmediateRetries(t *testing.T) {
	for name, err := range map[string]error{"RetryAfter": worker.RetryAfter(0, errBoom), "Snooze": worker.Snooze(0)} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				ids := s.add(20, "t", 0)
				r := newRig(s, worker.Config[payload]{StopEmpty: true, Concurrency: 1, Policy: atOnce}, once(err))
				r.start()
				advance(10 * time.Second)
				wantReturned(t, r)
				for _, id := range ids {
					if s.get(id).place != acked {
						t.Errorf("item %d is %v", id, s.get(id).place)
					}
				}
			})
		})
	}
}

// D-19: under StopEmpty what a handler adds is handled, too, with or without a
// notification: a follow-up written in the handler's own transaction sends none.
func TestStopEmptyHandlesWhatHandlersAdd(t *testing.T) {
	for name, notifies := range map[string]bool{"silently": false, "with a notification": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				s.add(1, "t", 0)
				cfg := asleep()
				cfg.StopEmpty = true
				r := newRig(s, cfg, func(ctx context.Context, i item) error {
					if err := until(ctx, time.Second); err != nil {
						return err
					}
					if i.ID < 10 {
						s.add(1, "t", 0)
						if notifies {
							s.notify()
						}
					}
					return nil
				})
				r.start()
				advance(time.Minute)
				wantReturned(t, r)
				if n := s.count(acked); n != 10 {
					t.Errorf("%d of 10 acked", n)
				}
			})
		})
	}
}

// D-19: a claim that is not full has read everything, so one that finds nothing while
// nothing is held ends a StopEmpty.
func TestStopEmptyEndsWithAnEmptyClaim(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{StopEmpty: true, BatchSize: 5}, func(context.Context, item) error { return nil })
		claims := 0
		r.link.before = func(_ context.Context, c *call) error {
			if c.op == "exchange" && c.want > 0 {
				claims++
			}
			return nil
		}
		r.start()
		advance(time.Minute)
		wantReturned(t, r)
		if claims != 1 {
			t.Errorf("%d claims of an empty queue", claims)
		}
	})
}

// D-20: a busy loop needs no notifications from producers.
func TestBusyLoopIsNotListening(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{BatchSize: 10, Concurrency: 10}, func(ctx context.Context, _ item) error { return until(ctx, 10*time.Millisecond) })
		r.start()
		defer r.end()
		advance(time.Second)
		subscribed := func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			for sl := range s.waiters {
				return sl.subscribed
			}
			return false
		}
		if !subscribed() {
			t.Error("an idle loop does not listen")
		}
		s.add(1000, "t", 0)
		s.notify()
		advance(200 * time.Millisecond)
		if subscribed() {
			t.Error("a busy loop listens")
		}
	})
}

// D-19, D-6: StopEmpty survives an outage, too.
func TestStopEmptyThroughAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(100, "t", 0)
		r := newRig(s, worker.Config[payload]{StopEmpty: true, Lease: time.Hour}, func(ctx context.Context, _ item) error { return until(ctx, time.Second) })
		begin := time.Now()
		r.link.before = func(context.Context, *call) error {
			if at := time.Since(begin); at > 500*time.Millisecond && at < 10*time.Minute {
				return errAway
			}
			return nil
		}
		r.start()
		advance(11 * time.Minute)
		wantReturned(t, r)
		if n := s.count(acked); n != 100 {
			t.Errorf("%d acked", n)
		}
		wantRuns(t, r, 0, 100)
	})
}

// D-692: after a long outage an enqueue of this process ends the wait for the next try.
func TestEnqueueEndsTheWaitAfterAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		r := newRig(s, worker.Config[payload]{PollMin: time.Hour, PollMax: time.Hour, Jitter: func(d time.Duration, _ float64) time.Duration { return d }},
			func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		advance(time.Minute)
		tries := 0
		r.link.hook(func(_ context.Context, c *call) error {
			if c.op == "exchange" {
				tries++
			}
			return errAway
		})
		s.notify()
		advance(time.Hour + 5*time.Second) // in the middle of a wait of 25 s
		before := tries
		if before < 3600/25 || before > 3600/25+10 {
			t.Errorf("%d tries in an hour without enqueues, want one each 25 s", before)
		}
		s.notify()
		s.notify()
		advance(time.Millisecond)
		if tries != before+1 {
			t.Errorf("%d tries after an enqueue, want 1", tries-before)
		}
		s.notify()
		advance(time.Second / 2)
		if tries != before+1 {
			t.Errorf("%d tries within a second, want 1", tries-before)
		}
		r.link.hook(nil)
		id := s.add(1, "t", 0)[0]
		advance(time.Second)
		wantPlace(t, s, id, acked, 0)
	})
}
