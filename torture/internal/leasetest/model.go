// Package leasetest has the model of a lease that histories of its holders are compared
// with: what they saw must have been possible one after the other.
package leasetest

import (
	"github.com/anishathalye/porcupine"

	"github.com/bravellian/pawl/internal/engine"
)

// Kind is what a contender did, or what happened to it.
type Kind int

// The kinds. An event that is OK took effect; one that is not was refused by the
// database.
const (
	Acquired Kind = iota
	Wrote         // under the guard
	Expired       // from here on the lease may have run out: its holder was stopped, or is late
	Renewed
	Closed
	Rewinding // the database's history is rewound: what is granted now may be lost, too
	Rewound   // what is granted from here on is not lost
)

// Event is what a contender did, and observed.
type Event struct {
	Kind    Kind
	Token   int64 // of its lease
	OK      bool
	Unknown bool // it may have taken effect, and may not
}

// World is what a history says about the lease at one moment.
type World struct {
	Token   int64 // of the last acquisition
	Free    bool
	Expired bool // it may have run out
	Rewound bool // since then nothing is known but that tokens grow
	// Rewinding keeps Rewound from ending with the next acquisition.
	Rewinding bool
}

// Model returns the model of one lease that is in the world first.
func Model(first World) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(state, _, output any) []any {
			var all []any
			for _, w := range state.(World).next(output.(Event)) {
				all = append(all, w)
			}
			return all
		},
	}
	return m.ToModel()
}

// next returns the worlds that an event may lead to; none if it cannot happen.
func (w World) next(e Event) []World {
	if !e.Unknown {
		if ok, after := w.step(e); ok {
			return []World{after}
		}
		return nil
	}
	possible := []World{w}
	switch {
	case e.Kind == Acquired && w.grants():
		possible = append(possible, World{Token: w.Token + 1, Expired: true, Rewound: w.Rewound, Rewinding: w.Rewinding})
	case e.Kind == Closed && e.Token == w.Token:
		w.Free = true
		possible = append(possible, w)
	}
	return possible
}

// step reports whether an event can happen in a world, and what the world is then.
func (w World) step(e Event) (bool, World) {
	ours := e.Token == w.Token && !w.Free
	switch {
	case e.Kind == Acquired && e.OK:
		return w.grants() && w.follows(e.Token), World{Token: e.Token, Rewound: w.Rewinding, Rewinding: w.Rewinding}
	case e.Kind == Acquired:
		return !w.Free || w.Rewound, w
	case e.Kind == Wrote && e.OK:
		return ours || w.Rewound && e.Token <= w.Token, w
	case e.Kind == Wrote:
		return !ours || w.Expired || w.Rewound, w
	case e.Kind == Expired && ours:
		w.Expired = true
	case e.Kind == Renewed && e.OK:
		w.Expired = false
		return ours || w.Rewound && e.Token <= w.Token, w
	case e.Kind == Renewed:
		return !ours || w.Expired || w.Rewound, w
	case e.Kind == Closed && ours:
		w.Free = true
	case e.Kind == Rewinding:
		w.Rewinding, w.Rewound = true, true
	case e.Kind == Rewound:
		w.Rewinding = false
	}
	return true, w
}

// grants reports whether the database may grant the lease.
func (w World) grants() bool { return w.Free || w.Expired || w.Rewound }

// follows reports whether a token may be the next. Within a generation of the database
// tokens grow by one; another generation has greater ones.
func (w World) follows(token int64) bool {
	if w.Rewound || token>>engine.TokenBits > w.Token>>engine.TokenBits {
		return token > w.Token
	}
	return token == w.Token+1
}
