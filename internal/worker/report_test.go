package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// D-117, OBX-105: the log of a failed attempt has its number, of how many, the delay before the next one, and whether there is none.
func TestFailedAttemptSaysWhatComesNext(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 0)
		r := newRig(s, worker.Config[payload]{Policy: exact(3)}, func(context.Context, item) error { return errBoom })
		r.start()
		defer r.end()
		advance(time.Minute)
		for _, want := range []string{
			"attempt=1 of=3 retry_in=1s final=false error=boom", "attempt=2 of=3 retry_in=2s final=false error=boom", "attempt=3 of=3 retry_in=0s final=true error=boom",
		} {
			if len(r.logs.lines("level=ERROR", `msg="handler failed"`, "topic=t message_id=message-1", want)) != 1 {
				t.Errorf("no single line with %s in\n%v", want, r.logs.lines(""))
			}
		}
		if all := r.logs.lines("level=ERROR"); len(all) != 3 {
			t.Errorf("logged\n%v", all)
		}
	})
}

// D-117: the delay that is logged is the one that is kept, also a random one.
func TestLoggedDelayIsTheOneThatIsKept(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		id := s.add(1, "t", 0)[0]
		policy := func(string) worker.RetryPolicy {
			return worker.RetryPolicy{Delay: func(int) time.Duration { return time.Minute }, Jitter: 0.9}
		}
		r := newRig(s, worker.Config[payload]{Policy: policy}, once(errBoom))
		start := time.Now()
		r.start()
		defer r.end()
		advance(time.Second)
		line := strings.Join(r.logs.lines("handler failed", "of=0"), "")
		_, text, _ := strings.Cut(line, "retry_in=")
		text, _, _ = strings.Cut(text, " ")
		logged, err := time.ParseDuration(text)
		if kept := s.get(id).at.Sub(start); err != nil || kept < logged || kept > logged+100*time.Millisecond {
			t.Errorf("due after %v, logged %q (%v)", kept, line, err)
		}
	})
}

// D-117: a delay that a handler chose is logged at level Info, until its attempts are used up.
func TestWhatAHandlerAskedForIsInformation(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "later", 0)
		s.add(1, "snooze", 0)
		s.add(1, "quietly", 0)
		snooze, quietly := once(worker.Snooze(time.Minute)), once(worker.PutBack(time.Minute))
		r := newRig(s, worker.Config[payload]{Policy: exact(2), Concurrency: 1}, func(ctx context.Context, i item) error {
			switch i.Topic {
			case "snooze":
				return snooze(ctx, i)
			case "quietly":
				return quietly(ctx, i)
			}
			return fmt.Errorf("busy: %w", worker.RetryAfter(42*time.Second, errBoom))
		})
		r.start()
		defer r.end()
		advance(5 * time.Minute)
		for _, want := range [][]string{
			{"level=INFO", `msg="handler asked for another attempt"`, "topic=later message_id=message-1 attempt=1 of=2 counted=true retry_in=42s error=\"busy: boom\""},
			{"level=ERROR", `msg="handler failed"`, "topic=later message_id=message-1 attempt=2 of=2 retry_in=0s final=true error=\"busy: boom\""},
			{"level=INFO", `msg="handler put its message off"`, "topic=snooze message_id=message-2 attempt=1 retry_in=1m0s"},
		} {
			if len(r.logs.lines(want...)) != 1 {
				t.Errorf("no single line with %v in\n%v", want, r.logs.lines(""))
			}
		}
		if all := r.logs.lines("quietly"); len(all) != 0 {
			t.Errorf("what pawl put back is logged: %v", all)
		}
	})
}

// D-117: a program may lower the level of attempts that will be retried, but not of the last one.
func TestRetryLogLevel(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 0)
		r := newRig(s, worker.Config[payload]{Policy: exact(2), RetryLogLevel: slog.LevelWarn}, func(context.Context, item) error { return errBoom })
		r.start()
		defer r.end()
		advance(time.Minute)
		if len(r.logs.lines("level=WARN", "handler failed", "attempt=1")) != 1 || len(r.logs.lines("level=ERROR", "handler failed", "attempt=2")) != 1 {
			t.Errorf("logged\n%v", r.logs.lines("handler failed"))
		}
	})
}
