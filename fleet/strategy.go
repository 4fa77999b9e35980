package fleet

// Strategy chooses the next store while more stores have work than can be worked on at once.
// It is called by one goroutine at a time.
type Strategy interface {
	// Next returns the store that gets the next time slice. waiting are the keys of the stores
	// that have work and are not being worked on, sorted, at least one; last is the key that
	// Next returned before, "" at first.
	Next(waiting []string, last string) string
	// Continue returns whether a store continues after a batch while others wait. Without work
	// its time slice ends anyway.
	Continue(key string) bool
}

// RoundRobin gives every store with work a time slice of one batch, in the order of their
// keys. Stores that are added or removed do not change the order, and one that
// fails gets its time slice like any other.
func RoundRobin() Strategy { return cyclic{} }

// DrainFirst works on a store until it is empty, then on the next. A store that is
// never empty is worked on for ever.
func DrainFirst() Strategy { return cyclic{stay: true} }

type cyclic struct{ stay bool }

// Next returns the first key after last, or the very first.
func (cyclic) Next(waiting []string, last string) string {
	for _, key := range waiting {
		if key > last {
			return key
		}
	}
	return waiting[0]
}

// Continue returns true for DrainFirst.
func (c cyclic) Continue(string) bool { return c.stay }
