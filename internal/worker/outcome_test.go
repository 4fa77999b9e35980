package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// TestMain sees that no test leaves a goroutine behind.
func TestMain(m *testing.M) {
	before := enginetest.Running()
	code := m.Run()
	if left := before.Left(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "left behind:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// exact is a policy without jitter.
func exact(attempts int) func(string) worker.RetryPolicy {
	return func(string) worker.RetryPolicy { return worker.RetryPolicy{MaxAttempts: attempts} }
}

// atOnce is a policy without delays.
func atOnce(string) worker.RetryPolicy {
	return worker.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 0 }}
}

// once answers the first execution of an item with err, later ones with nil.
func once(err error) func(context.Context, item) error {
	ran := map[int64]bool{}
	return func(_ context.Context, i item) error {
		if ran[i.ID] {
			return nil
		}
		ran[i.ID] = true
		return err
	}
}

// D-15: nil acks the item, and it does not run again.
func TestNilAcks(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return nil })
		r.start()
		advance(time.Minute)
		wantPlace(t, s, id, acked, 0)
		wantRuns(t, r, id, 1)
		r.end()
		if c := r.loop.Stats().Counts(); c.Claimed != 1 || c.Acked != 1 || c.Handled() != 1 || c.LastSuccess.IsZero() {
			t.Errorf("stats %+v", c)
		}
	})
}

// D-15, OBX-056, OBX-105: an error puts the item back with backoff, counts the
// attempt, keeps the text, and is logged with the message's id.
func TestErrorRetriesWithBackoff(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Policy: exact(10), Concurrency: 1}, once(errBoom))
		r.start()
		defer r.end()
		advance(900 * time.Millisecond)
		if e := wantPlace(t, s, id, ready, 1); e.reason != "boom" {
			t.Errorf("reason %q", e.reason)
		}
		advance(time.Second)
		wantPlace(t, s, id, acked, 1)
		runs := wantRuns(t, r, id, 2)
		if gap := runs[1].start.Sub(runs[0].end); gap < time.Second || gap > 1100*time.Millisecond {
			t.Errorf("tried again after %v, want about 1s", gap)
		}
		if runs[1].retry != 1 {
			t.Errorf("the second execution had Retry %d", runs[1].retry)
		}
		if len(r.logs.lines("level=ERROR", "message_id=message-1", "error=boom", "attempt=1")) != 1 {
			t.Error("the failure was not logged once, with the message's id")
		}
	})
}

// D-15: Permanent fails at once, however wrapped, and keeps the error's text.
func TestPermanentFailsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error {
			return fmt.Errorf("order 7: %w", worker.Permanent(errBoom))
		})
		r.start()
		defer r.end()
		advance(5 * time.Minute)
		if e := wantPlace(t, s, id, dead, 0); e.reason != "order 7: boom" {
			t.Errorf("reason %q", e.reason)
		}
		wantRuns(t, r, id, 1)
	})
}

// D-15: RetryAfter sets the delay and counts the attempt.
func TestRetryAfterSetsTheDelay(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{}, once(fmt.Errorf("busy: %w", worker.RetryAfter(42*time.Second, errBoom))))
		r.start()
		defer r.end()
		advance(41 * time.Second)
		wantPlace(t, s, id, ready, 1)
		advance(2 * time.Second)
		wantPlace(t, s, id, acked, 1)
	})
}

// D-403: the later of what RetryAfter asks for and the policy's backoff holds.
func TestRetryAfterNeverShortens(t *testing.T) {
	overflowed := func(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }
	for _, tt := range []struct {
		asked, want time.Duration
	}{
		{0, 20 * time.Second}, {-time.Hour, 20 * time.Second}, {math.MinInt64, 20 * time.Second}, {overflowed(9_300_000_000), 20 * time.Second},
		{19 * time.Second, 20 * time.Second}, {20 * time.Second, 20 * time.Second}, {21 * time.Second, 21 * time.Second}, {1 << 62, 1 << 62}, {math.MaxInt64, 290 * 365 * 24 * time.Hour},
	} {
		for name, err := range map[string]error{"RetryAfter": worker.RetryAfter(tt.asked, errBoom), "AskForTime": worker.AskForTime(tt.asked, errBoom)} {
			bubble(t, func(t *testing.T, s *store) {
				s.add(1, "t", 0)
				policy := worker.RetryPolicy{MaxAttempts: 3, Delay: func(n int) time.Duration { return 20 * time.Second * time.Duration(n) }}
				r := newRig(s, worker.Config[payload]{Policy: func(string) worker.RetryPolicy { return policy }}, once(err))
				r.start()
				advance(time.Second)
				r.end()
				var got []time.Duration
				for _, c := range r.link.calls("exchange") {
					for _, retry := range c.done.Retries {
						got = append(got, *retry.Delay)
					}
				}
				if len(got) != 1 || got[0] != tt.want {
					t.Errorf("%s(%v): again after %v, want %v", name, tt.asked, got, tt.want)
				}
			})
		}
	}
}

// D-403: an answer that only asks for time counts no attempt as long as the attempts of the policy
// would span. Then each counts, and the delays of the policy hold as always.
func TestAskForTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Policy: exact(4)}, func(context.Context, item) error { // spans 1+2+4 s
			return fmt.Errorf("at the door: %w", worker.AskForTime(0, errBoom))
		})
		r.start()
		defer r.end()
		advance(6900 * time.Millisecond)
		if e := wantPlace(t, s, id, ready, 0); e.reason != "at the door: boom" {
			t.Errorf("reason %q", e.reason)
		}
		if runs := wantRuns(t, r, id, 7); len(runs) != 7 || runs[6].retry != 0 { // at 0, 1 … 6 s
			t.Fatalf("not seven that do not count: %+v", runs)
		}
		advance(5 * time.Minute) // counted at 7, 8, 10 and 14 s
		wantPlace(t, s, id, dead, 3)
		runs := wantRuns(t, r, id, 11)
		if took := runs[len(runs)-1].start.Sub(runs[7].start); took < 7*time.Second || took > 7100*time.Millisecond {
			t.Errorf("the attempts that count took %v, want about 7s", took)
		}
		if len(r.logs.lines("counted=false")) != 7 || len(r.logs.lines("counted=true")) != 3 {
			t.Errorf("the log says %v", r.logs.lines("counted="))
		}
	})
}

// D-403: whatever else an error says comes first, and a policy without a limit counts nothing.
func TestAskForTimeBeside(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		final, single, forever := s.add(1, "final", 0)[0], s.add(1, "single", 0)[0], s.add(1, "forever", 0)[0]
		policy := func(topic string) worker.RetryPolicy {
			return worker.RetryPolicy{MaxAttempts: map[string]int{"final": 5, "single": 1}[topic]}
		}
		r := newRig(s, worker.Config[payload]{Policy: policy}, func(_ context.Context, i item) error {
			if err := worker.AskForTime(time.Hour, errBoom); i.Topic != "final" {
				return err
			} else {
				return worker.Permanent(err)
			}
		})
		r.start()
		defer r.end()
		advance(100*time.Hour + time.Minute)
		wantPlace(t, s, final, dead, 0)
		wantPlace(t, s, single, dead, 0)
		wantPlace(t, s, forever, ready, 0)
		wantRuns(t, r, forever, 101)
	})
}

// D-15: RetryAfter obeys the maximum of attempts.
func TestRetryAfterUsesUpAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Policy: exact(3)}, func(context.Context, item) error { return worker.RetryAfter(0, nil) })
		r.start()
		defer r.end()
		advance(time.Minute)
		wantPlace(t, s, id, dead, 2)
		wantRuns(t, r, id, 3)
	})
}

// D-15: Snooze puts the item back without counting an attempt or logging a failure.
func TestSnoozeCountsNoAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Policy: exact(1)}, once(worker.Snooze(5*time.Second)))
		r.start()
		defer r.end()
		advance(4900 * time.Millisecond)
		wantPlace(t, s, id, ready, 0)
		advance(200 * time.Millisecond)
		wantPlace(t, s, id, acked, 0)
		if len(r.logs.lines("level=ERROR")) != 0 {
			t.Error("a snooze was logged as an error")
		}
		if c := r.loop.Stats().Counts(); c.Released != 1 || c.Unhandled != 0 {
			t.Errorf("stats %+v", c)
		}
	})
}

// D-17: an item without a handler here goes back uncounted, and has a counter of its own.
func TestUnhandledIsCountedApart(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{Policy: exact(1)}, once(worker.Unhandled(time.Second)))
		r.start()
		defer r.end()
		advance(5 * time.Second)
		wantPlace(t, s, id, acked, 0)
		if c := r.loop.Stats().Counts(); c.Unhandled != 1 || c.Released != 1 || c.Acked != 1 {
			t.Errorf("stats %+v", c)
		}
	})
}

// D-15: a panic is a failed attempt; its stack is in the log and not in the
// error that is kept.
func TestPanicIsAnErrorWithItsStackInTheLog(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(2, "t", 0)
		first := true
		r := newRig(s, worker.Config[payload]{Policy: exact(10), Concurrency: 1}, func(context.Context, item) error {
			if first {
				first = false
				panic("no such thing")
			}
			return nil
		})
		r.start()
		defer r.end()
		advance(500 * time.Millisecond)
		if e := wantPlace(t, s, ids[0], ready, 1); e.reason != "panic: no such thing" {
			t.Errorf("reason %q", e.reason)
		}
		wantPlace(t, s, ids[1], acked, 0)
		if len(r.logs.lines("level=ERROR", "stack=", "outcome_test.go")) != 1 {
			t.Error("the panic's stack is not in the log")
		}
		advance(2 * time.Second)
		wantPlace(t, s, ids[0], acked, 1)
	})
}

// brokenError is an error whose Error method panics.
type brokenError struct{ inner error }

func (b *brokenError) Error() string { return b.inner.Error() }
func (b *brokenError) Unwrap() error { return b.inner }

// A handler that ends its goroutine fails its attempt only: its item is handled again, and
// as many handlers run at once as before.
func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(6, "t", 0)
		r := newRig(s, worker.Config[payload]{Concurrency: 2}, func(ctx context.Context, i item) error {
			if i.Topic == "slow" {
				return until(ctx, time.Minute)
			}
			if i.Retry == 0 {
				runtime.Goexit()
			}
			return nil
		})
		r.start()
		advance(10 * time.Second)
		for _, id := range ids {
			wantPlace(t, s, id, acked, 1)
		}
		s.add(4, "slow", 0)
		advance(10 * time.Second)
		if n := r.running(); n != 2 {
			t.Errorf("%d handlers run, want 2", n)
		}
		if got := r.logs.lines("handler failed", "runtime.Goexit"); len(got) != 6 {
			t.Errorf("%d lines in the log, want 6", len(got))
		}
		r.end()
	})
}

// D-15: an error that panics itself, or a policy that does, is a failed attempt
// and not the end of the process.
func TestErrorOrPolicyThatPanicsIsAFailedAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := append(s.add(1, "error", 0), s.add(1, "policy", 0)...)
		policy := func(topic string) worker.RetryPolicy {
			p := worker.RetryPolicy{MaxAttempts: 2}
			if topic == "policy" {
				p.Delay = func(int) time.Duration { panic("policy") }
			}
			return p
		}
		r := newRig(s, worker.Config[payload]{Policy: policy}, func(_ context.Context, i item) error {
			if i.Topic == "policy" {
				return errBoom
			}
			return (*brokenError)(nil)
		})
		r.start()
		defer r.end()
		advance(10 * time.Second)
		for _, id := range ids {
			wantPlace(t, s, id, dead, 1)
			wantRuns(t, r, id, 2)
		}
	})
}

// D-14, OBX-061, OBX-062, OBX-064, OBX-065: by default an item runs ten times, 1, 2, 4 …
// 60 s ± 10 % apart, and then fails for good.
func TestDefaultPolicyGivesTenAttemptsAndThenFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{}, func(context.Context, item) error { return errBoom })
		r.start()
		defer r.end()
		advance(time.Hour)
		if e := wantPlace(t, s, id, dead, 9); e.reason != "boom" {
			t.Errorf("reason %q", e.reason)
		}
		runs := wantRuns(t, r, id, 10)
		for i := 1; i < len(runs); i++ {
			want := engine.Backoff(i)
			gap := runs[i].start.Sub(runs[i-1].end)
			if gap < want*9/10 || gap > want*11/10+20*time.Millisecond {
				t.Errorf("execution %d came after %v, want %v ± 10 %%", i+1, gap, want)
			}
			if runs[i].retry != i {
				t.Errorf("execution %d had Retry %d", i+1, runs[i].retry)
			}
		}
	})
}

// OBX-063, OBX-065, D-14: a topic's policy decides, and 0 attempts means no limit.
func TestPolicyPerTopic(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		twice, forever := s.add(1, "twice", 0)[0], s.add(1, "forever", 0)[0]
		policy := func(topic string) worker.RetryPolicy {
			p := worker.RetryPolicy{Delay: func(failures int) time.Duration { return time.Duration(failures) * 10 * time.Millisecond }}
			if topic == "twice" {
				p.MaxAttempts = 2
			}
			return p
		}
		r := newRig(s, worker.Config[payload]{Policy: policy}, func(_ context.Context, i item) error {
			if i.Retry == 50 {
				return nil
			}
			return errBoom
		})
		r.start()
		defer r.end()
		advance(time.Minute)
		wantPlace(t, s, twice, dead, 1)
		wantPlace(t, s, forever, acked, 50)
	})
}

// D-12: an item whose leases expired as often as it may be tried fails without being run
// again.
func TestItemThatKillsItsWorkersFailsUnrun(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		s.entries[0].retry = 3
		r := newRig(s, worker.Config[payload]{Policy: exact(3)}, func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		advance(time.Second)
		if e := wantPlace(t, s, id, dead, 3); !strings.Contains(e.reason, "3 attempts") {
			t.Errorf("reason %q does not say why", e.reason)
		}
		wantRuns(t, r, id, 0)
		if len(r.logs.lines("level=ERROR", "message_id=message-1")) != 1 {
			t.Error("giving up was not logged")
		}
	})
}

// D-12, OBX-053, OBX-106: what a crashed worker held comes back by itself, all of it,
// without an attempt counted, and that is logged.
func TestExpiredLeasesComeBackByThemselves(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3*reapMost+1, "t", 0)
		s.mu.Lock()
		s.claim(uuid.New(), 10*time.Second, len(ids)) // and its process died
		s.mu.Unlock()
		r := newRig(s, worker.Config[payload]{PollMax: time.Second}, func(context.Context, item) error { return nil })
		r.start()
		defer r.end()
		advance(9900 * time.Millisecond)
		wantRuns(t, r, 0, 0)
		advance(1500 * time.Millisecond)
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
		}
		if c := r.loop.Stats().Counts(); c.Reaped != int64(len(ids)) {
			t.Errorf("%d reaped, want %d", c.Reaped, len(ids))
		}
		if len(r.logs.lines("level=INFO", "reaped", "count=10")) == 0 {
			t.Error("reaping was not logged with its number")
		}
	})
}

// What comes back is counted and logged before it is handled, however long that takes.
func TestWhatComesBackIsSaidFirst(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		s.mu.Lock()
		s.claim(uuid.New(), time.Second, len(ids))
		s.mu.Unlock()
		var r *rig
		r = newRig(s, worker.Config[payload]{PollMax: time.Second}, func(context.Context, item) error {
			if c := r.loop.Stats().Counts(); c.Reaped != 3 || len(r.logs.lines("reaped")) != 1 {
				t.Errorf("handled what came back when the log said %q, of %+v", r.logs.lines("reaped"), c)
			}
			return nil
		})
		r.slow = func(message string) {
			if strings.HasPrefix(message, "reaped") {
				time.Sleep(time.Minute)
			}
		}
		r.start()
		defer r.end()
		advance(10 * time.Minute)
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
		}
	})
}

// D-6: a Reap that fails is retried with growing delays, and logged.
func TestReapingOutlivesErrors(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		s.mu.Lock()
		s.claim(uuid.New(), 10*time.Second, 1)
		s.mu.Unlock()
		r := newRig(s, worker.Config[payload]{PollMax: time.Second}, func(context.Context, item) error { return nil })
		begin := time.Now()
		r.link.before = func(_ context.Context, c *call) error {
			if c.op == "reap" && time.Since(begin) < time.Hour {
				return errAway
			}
			return nil
		}
		r.start()
		defer r.end()
		advance(time.Hour)
		if n := len(r.link.calls("reap")); n < 100 || n > 200 {
			t.Errorf("%d tries in an hour, want one in about 30 s", n)
		}
		if len(r.logs.lines("level=WARN", "reap")) == 0 {
			t.Error("the errors were swallowed")
		}
		advance(31 * time.Second)
		wantPlace(t, s, id, acked, 0)
	})
}

// D-13: every claim has a token of its own, and a settlement of a claim that was lost
// changes nothing.
func TestResultsOfALostClaimChangeNothing(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(4, "t", 0)
		outcomes := map[int64]error{ids[0]: nil, ids[1]: errBoom, ids[2]: worker.Permanent(errBoom), ids[3]: worker.Snooze(time.Hour)}
		r := newRig(s, worker.Config[payload]{Lease: time.Minute}, func(_ context.Context, i item) error {
			time.Sleep(5 * time.Second)
			return outcomes[i.ID]
		})
		r.start()
		advance(time.Second)
		s.endLease(ids...)
		s.mu.Lock()
		other := uuid.New()
		s.claimOf(true, other, time.Hour, 4)
		s.mu.Unlock()
		advance(10 * time.Second)
		for _, id := range ids {
			if e := wantPlace(t, s, id, leased, 0); e.owner != other || e.reason != "" {
				t.Errorf("item %d was changed by a loop that lost it: %+v", id, e)
			}
		}
		r.end()
		if n := len(r.executions(0)); n != 4 {
			t.Errorf("%d executions, want 4", n)
		}
	})
}

// D-15: an error that a handler returns for its cancellation by a stop is no failure,
// whatever its text; an explicit outcome is kept.
func TestOurOwnStopIsNoFailure(t *testing.T) {
	for name, answer := range map[string]func(context.Context) error{
		"ctx.Err":           func(ctx context.Context) error { return ctx.Err() },
		"wrapped":           func(ctx context.Context) error { return fmt.Errorf("send: %w", ctx.Err()) },
		"context.Cause":     context.Cause,
		"in its own words":  func(context.Context) error { return errors.New("signal: killed") },
		"snoozed meanwhile": func(context.Context) error { return worker.Snooze(0) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				id := s.add(1, "t", 0)[0]
				r := newRig(s, worker.Config[payload]{Grace: time.Second}, func(ctx context.Context, _ item) error {
					<-ctx.Done()
					return answer(ctx)
				})
				r.start()
				advance(time.Second)
				r.end()
				wantPlace(t, s, id, ready, 0)
				if len(r.logs.lines("level=ERROR")) != 0 {
					t.Error("our own stop was logged as an error")
				}
			})
		})
	}
	t.Run("an explicit verdict", func(t *testing.T) {
		bubble(t, func(t *testing.T, s *store) {
			id := s.add(1, "t", 0)[0]
			r := newRig(s, worker.Config[payload]{Grace: time.Second}, func(ctx context.Context, _ item) error {
				<-ctx.Done()
				return worker.Permanent(errBoom)
			})
			r.start()
			advance(time.Second)
			r.end()
			wantPlace(t, s, id, dead, 0)
		})
	})
}

// D-15: an error that only resembles a cancellation is a failure.
func TestForeignCancellationIsAFailure(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		r := newRig(s, worker.Config[payload]{}, once(context.Canceled))
		r.start()
		defer r.end()
		advance(500 * time.Millisecond)
		wantPlace(t, s, id, ready, 1)
	})
}

// D-207: what handlers returned goes with the acks, each with its item's, as long as these are not
// settled, and with nothing else.
func TestResultsGoWithAcks(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := append(s.add(4, "t", 0), s.add(1, "nothing", 0)...)
		of := func(owner uuid.UUID) []byte { return []byte(owner.String()) }
		var mu sync.Mutex
		silent := map[uuid.UUID]int{} // acks without a result
		r := newRig(s, worker.Config[payload]{
			Policy: exact(3),
			Result: func(p payload) []byte {
				mu.Lock()
				defer mu.Unlock()
				if silent[p.owner]++; silent[p.owner] == 1 {
					return nil
				}
				return of(p.owner)
			},
		}, func(_ context.Context, i item) error {
			if i.ID == ids[0] {
				return worker.Permanent(errors.New("no"))
			}
			return nil
		})
		failures := 3
		r.link.hook(func(_ context.Context, c *call) error {
			if c.done.Len() > 0 && failures > 0 {
				failures--
				return engine.ErrUnreachable
			}
			return nil
		})
		r.start()
		advance(time.Minute)
		r.end()
		results := map[int64]bool{}
		for _, c := range r.link.calls("exchange") {
			if len(c.done.Acks) > 0 && len(c.done.Results) != len(c.done.Acks)-1 {
				t.Errorf("%d results with %d acks", len(c.done.Results), len(c.done.Acks))
			}
			for _, got := range c.done.Results {
				if !slices.Contains(c.done.Acks, got.Held) || !bytes.Equal(got.Data, of(got.Owner)) {
					t.Errorf("%+v goes with %+v", got, c.done.Acks)
				}
				results[got.ID] = true
			}
		}
		if len(results) != 3 || results[ids[0]] || failures > 0 {
			t.Errorf("results of %v, %d failures are left", results, failures)
		}
	})
}
