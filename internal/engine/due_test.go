package engine_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// D-8, OBX-013: every time before 1970 means now, none after 9999 is a due time,
// and neither end of what Go can express is taken for the other.
func TestDue(t *testing.T) {
	epoch := time.Unix(0, 0)
	for _, now := range []time.Time{{}, epoch.Add(-1), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(-300_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(math.MinInt64, 0)} {
		if err := engine.CheckDue("due time", now); err != nil || engine.Due(&now) != nil {
			t.Errorf("second %d does not mean now: %v, %v", now.Unix(), engine.Due(&now), err)
		}
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	for _, at := range []time.Time{epoch, epoch.In(time.FixedZone("west", -3600)), time.Now(), last} {
		if err := engine.CheckDue("due time", at); err != nil || engine.Due(&at) != &at {
			t.Errorf("%v is not kept: %v, %v", at, engine.Due(&at), err)
		}
	}
	for _, far := range []time.Time{last.Add(1), time.Date(300_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(math.MaxInt64, 0)} {
		var invalid *engine.InvalidError
		if err := engine.CheckDue("due time", far); !errors.As(err, &invalid) || invalid.Field() != "due time" {
			t.Errorf("second %d: %v", far.Unix(), err)
		}
	}
}
