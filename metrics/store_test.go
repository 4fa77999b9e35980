package metrics

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
)

// A database is asked when what it said is old; in a fleet neither if it fails nor
// again if it has nothing to do.
func TestWhoIsAsked(t *testing.T) {
	const interval = time.Minute
	now, old := time.Now(), time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		state fleet.State // "": no fleet
		busy  bool
		last  reading
		want  bool
	}{
		"never":                      {last: reading{}, want: true},
		"long ago":                   {last: reading{at: old}, want: true},
		"just now":                   {last: reading{at: now}},
		"just now, in vain":          {last: reading{at: now, err: errors.New("no")}},
		"still being asked":          {last: reading{at: old}, busy: true},
		"active":                     {state: fleet.Active, last: reading{at: old, idle: true}, want: true},
		"waiting":                    {state: fleet.Waiting, last: reading{at: old}, want: true},
		"failing":                    {state: fleet.Failing, last: reading{at: old}},
		"idle, never":                {state: fleet.Idle, want: true},
		"idle since it was asked":    {state: fleet.Idle, last: reading{at: old}, want: true},
		"idle when it was asked":     {state: fleet.Idle, last: reading{at: old, idle: true}},
		"idle when asked in vain":    {state: fleet.Idle, last: reading{at: old, idle: true, err: errors.New("no")}, want: true},
		"idle since, but just asked": {state: fleet.Idle, last: reading{at: now}},
	} {
		s := &store{busy: c.busy, last: c.last}
		if c.state != "" {
			s.health = &fleet.StoreHealth{State: c.state}
		}
		if got := s.due(interval); got != c.want {
			t.Errorf("%s: asked is %v, want %v", name, got, c.want)
		}
	}
}
