package activity_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/activity"
)

// D-610: a clock is ahead by what the time that the answer took does not explain.
func TestAhead(t *testing.T) {
	for _, one := range []struct{ off, took, want time.Duration }{
		{0, time.Second, 0}, {10 * time.Minute, time.Second, 10 * time.Minute}, {-10 * time.Minute, time.Second, -10 * time.Minute}, {400 * time.Millisecond, time.Second, 0},
	} {
		c := activity.New()
		c.Answered(time.Now().Add(-one.took/2-one.off), one.took)
		if got := c.Ahead().Round(100 * time.Millisecond); got != one.want {
			t.Errorf("off by %s, took %s: %s", one.off, one.took, got)
		}
	}
}
