package worker

import (
	"cmp"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
)

// maxWeight bounds how many turns a key has: each is looked for by every claim.
const maxWeight = 100

// Fair lets the messages of a queue take turns by a key of theirs, a tenant say: see pawl.Options.Fair. The zero
// value makes the topic the key.
type Fair struct {
	// Header is the name of the header whose value is the key; "": the topic is. Messages without the header take
	// no turns.
	Header string
	// Weights are how many turns single keys have while others have one, at most 100. They hold for messages that
	// are enqueued from then on.
	Weights map[string]int
}

func (f *Fair) validate() error {
	if err := engine.CheckText("Fair", f.Header, limits.Topic, false); err != nil {
		return err
	}
	for key, weight := range f.Weights {
		if err := cmp.Or(engine.CheckText("Fair", key, limits.OrderingKey, true), engine.CheckOption("Fair", weight, 1, maxWeight)); err != nil {
			return err
		}
	}
	return nil
}
