package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// MaxAttempts is how often a transaction of pawl's own is tried (D-3).
const MaxAttempts = 5

// Retry runs try until it succeeds, fails for good, or was tried MaxAttempts times, with a
// jittered, growing delay in between. What waited for a lock as long as a transaction may take is
// not tried again: its caller has waited enough.
func Retry(ctx context.Context, try func() error) error {
	delay := time.Millisecond
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil || attempt == MaxAttempts || !Retryable(err) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if Sleep(ctx, Jitter(delay, 0.5)) != nil {
			return err
		}
		delay *= 4
	}
}

// delays are those after 1, 2, … failures in a row, in seconds (D-14). The last one is that after all
// further ones.
var delays = []int{1, 2, 4, 8, 16, 32, 60}

// Backoff returns the default delay after so many failures: 1, 2, 4, … 60 s. Backoff(0) is 1 s, as is
// Backoff(1). In SQL it is pawl.backoff(retry), in seconds, where retry is how many failures came before
// this one.
func Backoff(failures int) time.Duration {
	return time.Duration(delays[min(max(failures, 1), len(delays))-1]) * time.Second
}

// backoffMacro returns the macro pawl.backoff(retry).
func backoffMacro() macro {
	text, last := "CASE {retry}", len(delays)-1
	for retry, delay := range delays[:last] {
		text += fmt.Sprintf(" WHEN %d THEN %d", retry, delay)
	}
	return macro{[]string{"retry"}, text + fmt.Sprintf(" ELSE %d END", delays[last])}
}

// Sleep waits for d or until ctx ends, whose error it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Jitter returns d ± share at random, so that processes which fail together do not retry
// together.
func Jitter(d time.Duration, share float64) time.Duration {
	return d + time.Duration((rand.Float64()*2-1)*share*float64(d))
}

// Grace is how long work that was sent may go on after its caller's context ended. Ending it
// at once would turn every cancelled request into a commit with an unknown outcome (D-4).
const Grace = 2 * time.Second

// Detach returns a context for a transaction: it has parent's values, ends after limit
// (D-6), and at most Grace after parent's end.
func Detach(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), limit)
	if parent.Done() == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(parent, func() {
		if Sleep(ctx, Grace) == nil {
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}
