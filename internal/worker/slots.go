package worker

import "sync"

// Slots bound how many items of some topics run at once, in all loops that share them.
// They are safe for concurrent use.
type Slots struct {
	limit int
	own   bool

	mu    sync.Mutex
	used  int
	asked []func() // whom to tell when one is free, each once
}

// NewSlots returns n free slots. own says that they come beside Config.Concurrency, which
// has to be raised by Config.Extra: for items that wait rather than work.
func NewSlots(n int, own bool) *Slots { return &Slots{limit: n, own: own} }

// take takes a slot. If none is free, whenFree is called once, when one may be.
func (s *Slots) take(whenFree func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used >= s.limit {
		s.asked = append(s.asked, whenFree)
		return false
	}
	s.used++
	return true
}

// free gives a slot back. The caller holds no lock: others are told, who take theirs.
func (s *Slots) free() {
	s.mu.Lock()
	s.used--
	asked := s.asked
	s.asked = nil
	s.mu.Unlock()
	for _, tell := range asked {
		tell()
	}
}
