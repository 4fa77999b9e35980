package worker

// OrderPolicy is what a failed item does to those behind it in its line.
type OrderPolicy int

// The policies.
const (
	OrderBlock OrderPolicy = iota // they wait until it succeeds or fails for good
	OrderSkip                     // they go on when an attempt fails
	OrderHold                     // they wait also when it fails for good
)

// anyOrdered reports whether others wait behind any of the items.
func anyOrdered[M any](items []Item[M]) bool {
	for i := range items {
		if items[i].Ordered {
			return true
		}
	}
	return false
}

// order completes what add added last, an item of a line.
func (s *Settlement) order(policy OrderPolicy, o outcome) {
	switch o {
	case acked, expired, cancelled, dropped:
		s.Freed = true
	case retried:
		yields := policy == OrderSkip
		s.Retries[len(s.Retries)-1].Yield = yields
		s.Freed = s.Freed || yields
	case failedForGood:
		holds := policy == OrderHold
		s.Failures[len(s.Failures)-1].Hold = holds
		s.Freed = s.Freed || !holds
	case released, parked:
	}
}
