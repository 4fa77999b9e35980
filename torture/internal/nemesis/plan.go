// Package nemesis makes the faults of a round: a plan that follows from a seed, and what
// carries it out.
package nemesis

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Step is a fault at a time.
type Step struct {
	At    time.Duration `json:"at"` // after the load began
	Fault string        `json:"fault"`
	Pick  uint64        `json:"pick"` // which process, connection, row: modulo how many there are
	Hold  time.Duration `json:"hold"` // how long it lasts, if it lasts

	process string // that it is about, when it is made
}

// Plan is what is to happen in a round.
type Plan []Step

// String is a line for each step.
func (p Plan) String() string {
	var b strings.Builder
	for _, s := range p {
		fmt.Fprintf(&b, "%8.2fs %-20s pick %d, hold %v\n", s.At.Seconds(), s.Fault, s.Pick%1000, s.Hold.Round(time.Millisecond))
	}
	return b.String()
}

// gap is the mean time between the ends and beginnings of faults of one track.
const gap = 1500 * time.Millisecond

// NewPlan makes a plan of faults in several tracks, which do not wait for each other: what
// harms processes, connections, and the server happens at once. The plan follows from the
// seed, the duration and the names.
func NewPlan(seed uint64, duration time.Duration, faults []Fault) Plan {
	r := rand.New(rand.NewPCG(seed, uint64(len(faults))))
	var plan Plan
	for _, track := range []Track{Processes, Connections, Database, Servers} {
		of := slices.DeleteFunc(slices.Clone(faults), func(f Fault) bool { return f.Track != track || f.Rewinds })
		if len(of) == 0 {
			continue
		}
		for at := track.pause(r); ; {
			f := of[r.IntN(len(of))]
			hold := f.hold(r)
			if at+hold > duration {
				break
			}
			plan = append(plan, Step{At: at, Fault: f.Name, Pick: r.Uint64(), Hold: hold})
			at += hold + track.pause(r)
		}
	}
	slices.SortStableFunc(plan, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return plan
}

// pause is the time until the next fault of a track. Those of servers take a while to
// recover from.
func (t Track) pause(r *rand.Rand) time.Duration {
	mean := gap
	if t == Servers {
		mean = 4 * gap
	}
	return mean/2 + time.Duration(r.Int64N(int64(mean)))
}

// RewindPlan is the plan of a round in which the database goes back: the faults of
// processes, and in the middle the one that rewinds.
func RewindPlan(seed uint64, duration time.Duration, faults []Fault, rewind Fault) Plan {
	some := slices.DeleteFunc(slices.Clone(faults), func(f Fault) bool { return f.Track != Processes })
	plan := NewPlan(seed, duration, some)
	r := rand.New(rand.NewPCG(seed, 1))
	plan = append(plan, Step{At: duration / 4, Fault: rewind.Name, Pick: r.Uint64(), Hold: duration / 4})
	slices.SortStableFunc(plan, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return plan
}
