package lease

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"
)

// D-62: 60 % or whatever was asked for, counted from before the request; jitter
// makes it earlier, by at most a tenth of what is left.
func TestWhenToRenew(t *testing.T) {
	sent := time.Now()
	const d = 100 * time.Second
	for _, c := range []struct {
		part, jitter float64
		answered     time.Duration // after it was sent
		want         time.Duration
	}{
		{0.6, 0, 0, 60 * time.Second},
		{0.6, 1, 0, 56 * time.Second},                  // 10 % of the 40 s behind it
		{0.1, 1, 0, 9 * time.Second},                   // 10 % of the wait
		{0.9, 1, 0, 89 * time.Second},                  // 10 % of the 10 s behind it
		{0.6, 1, 50 * time.Second, 59 * time.Second},   // 10 % of the wait that is left
		{0.6, 1, 90 * time.Second, 60 * time.Second},   // overdue
		{0.6, 0.5, 20 * time.Second, 58 * time.Second}, // half of it
	} {
		if got := renewal(sent.Add(c.answered), sent, d, c.part, c.jitter).Sub(sent); got != c.want {
			t.Errorf("%+v: after %v", c, got)
		}
	}
}

// D-62: Err looks at the clock itself: after a pause of the whole process it is
// right before any timer has run.
func TestErrLooksAtTheClock(t *testing.T) {
	l := &Lease{s: &Leases{log: slog.New(slog.DiscardHandler)}, name: "n", opts: Options{Duration: time.Minute}, sent: time.Now().Add(-time.Minute)}
	l.ctx, l.cancel = context.WithCancelCause(t.Context())
	if l.ctx.Err() != nil {
		t.Fatal("ended already")
	}
	if err := l.Err(); !errors.Is(err, ErrLost) || !errors.Is(context.Cause(l.ctx), ErrLost) {
		t.Fatalf("want ErrLost, got %v and %v", err, context.Cause(l.ctx))
	}
}
