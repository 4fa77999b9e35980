package inspect

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine/op"
)

// D-623: what was done is known from the first minute that was counted on, also once its hour was added up;
// when the minutes are gone, from the first hour on.
func TestKnownFrom(t *testing.T) {
	for name, c := range map[string]struct {
		extent op.ActivitySpan
		known  int64 // minutes
	}{
		"nothing":                    {op.ActivitySpan{}, 0},
		"minutes alone":              {op.ActivitySpan{FirstMinute: 6038}, 6038},
		"the first hour is added up": {op.ActivitySpan{FirstMinute: 6038, FirstHour: 6000, LastHour: 6060}, 6038},
		"minutes of the last day":    {op.ActivitySpan{FirstMinute: 6038, FirstHour: 60, LastHour: 6060}, 60},
		"hours alone":                {op.ActivitySpan{FirstHour: 6000, LastHour: 6060}, 6000},
	} {
		r := newActivityReader(at(6100), time.Hour, &c.extent)
		if want := c.known; want == 0 != r.Known.IsZero() || want > 0 && !r.Known.Equal(at(want)) {
			t.Errorf("%s: known from %v, want %v", name, r.Known, at(want))
		}
	}
}
