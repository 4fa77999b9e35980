package metrics

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/fleetstate"
)

// A database is asked when what it said is old; in a fleet neither if it fails nor
// again if it has nothing to do.
func TestWhoIsAsked(t *testing.T) {
	const interval = time.Minute
	now, old := time.Now(), time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		state fleetstate.State // "": no fleet
		busy  bool
		last  reading
		want  bool
	}{
		"never":                      {last: reading{}, want: true},
		"long ago":                   {last: reading{at: old}, want: true},
		"just now":                   {last: reading{at: now}},
		"just now, in vain":          {last: reading{at: now, err: errors.New("no")}},
		"still being asked":          {last: reading{at: old}, busy: true},
		"active":                     {state: fleetstate.Active, last: reading{at: old, idle: true}, want: true},
		"waiting":                    {state: fleetstate.Waiting, last: reading{at: old}, want: true},
		"failing":                    {state: fleetstate.Failing, last: reading{at: old}},
		"idle, never":                {state: fleetstate.Idle, want: true},
		"idle since it was asked":    {state: fleetstate.Idle, last: reading{at: old}, want: true},
		"idle when it was asked":     {state: fleetstate.Idle, last: reading{at: old, idle: true}},
		"idle when asked in vain":    {state: fleetstate.Idle, last: reading{at: old, idle: true, err: errors.New("no")}, want: true},
		"idle since, but just asked": {state: fleetstate.Idle, last: reading{at: now}},
	} {
		s := &store{busy: c.busy, last: c.last}
		if c.state != "" {
			s.health = &fleetstate.Store{State: c.state}
		}
		if got := s.due(interval); got != c.want {
			t.Errorf("%s: asked is %v, want %v", name, got, c.want)
		}
	}
}
