package fleet

// Strategy says whose turn it is while more stores have work than can be worked on
// at once (OBX-067). It is called by one goroutine at a time.
type Strategy interface {
	// Next chooses the store that gets the next turn. waiting are the keys of the
	// stores that have work and are not being worked on, sorted, at least one; last
	// is the key that Next returned before, "" at first.
	Next(waiting []string, last string) string
	// Continue says whether a store keeps its turn after a batch while others wait. One
	// without work loses its turn anyway.
	Continue(key string) bool
}

// RoundRobin gives every store with work a turn of one batch, in the order of
// their keys (OBX-068). Stores that come and go do not disturb the order, and one
// that fails is passed over like any other.
func RoundRobin() Strategy { return cyclic{} }

// DrainFirst stays with a store until it has nothing left, then goes on to the next
// (OBX-069). A store that is never empty keeps its turn for ever.
func DrainFirst() Strategy { return cyclic{stay: true} }

type cyclic struct{ stay bool }

// Next is the first key behind last, or the very first.
func (cyclic) Next(waiting []string, last string) string {
	for _, key := range waiting {
		if key > last {
			return key
		}
	}
	return waiting[0]
}

// Continue is whether to stay.
func (c cyclic) Continue(string) bool { return c.stay }
