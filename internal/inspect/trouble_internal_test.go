package inspect

import (
	"testing"

	"github.com/bravellian/pawl/internal/activity"
)

// D-573: a streak of failures begins where more failed than succeeded, ends with the latest minute in
// which more succeeded, and with the last attempt five minutes ago.
func TestStreak(t *testing.T) {
	const now = 1000
	for name, c := range map[string]struct {
		minutes       map[int64][2]int64 // done and failed
		since, failed int64
	}{
		"nothing":                    {nil, 0, 0},
		"all fail":                   {map[int64][2]int64{now: {0, 5}, now - 1: {1, 9}, now - 3: {0, 1}}, now - 3, 15},
		"recovered":                  {map[int64][2]int64{now: {3, 1}, now - 1: {0, 900}}, 0, 0},
		"recovered, and failed anew": {map[int64][2]int64{now: {0, 4}, now - 1: {9, 1}, now - 2: {0, 50}}, now, 4},
		"long ago":                   {map[int64][2]int64{now - 5: {0, 900}}, 0, 0},
		"slow":                       {map[int64][2]int64{now - 4: {0, 1}, now - 30: {0, 1}, now - 59: {0, 1}}, now - 59, 3},
		"an hour ago":                {map[int64][2]int64{now: {0, 1}, now - 60: {0, 8}}, now, 1},
	} {
		minutes := map[int64]*activity.Totals{}
		for minute, n := range c.minutes {
			minutes[minute] = &activity.Totals{Done: n[0], Retried: n[1]}
		}
		got := troubleOf("q", "t", minutes, now)
		if _, failed := got.Streak.Attempts(); failed != c.failed || c.since == 0 != got.Since.IsZero() || c.since > 0 && !got.Since.Equal(at(c.since)) {
			t.Errorf("%s: %d failed since %v", name, failed, got.Since)
		}
	}
}
