package fleet

import (
	"fmt"
	"strings"
	"time"
)

// State is the state of a store.
type State string

// The states of a store.
const (
	Idle    State = "idle"    // nothing is due; it is polled
	Waiting State = "waiting" // there is work, but all places are taken
	Active  State = "active"  // it is being worked on, or kept warm
	Failing State = "failing" // its database fails or does not answer
	// Elsewhere is the state of a store that only other processes work on: see Options.Share.
	// It is not polled here.
	Elsewhere State = "elsewhere"
)

// StoreHealth is the health of a store.
type StoreHealth struct {
	Key         string
	Where       string // its URL without password
	State       State
	Error       string    // the last failure; "" if it is healthy
	Failures    int       // in a row
	LastSuccess time.Time // when its database last answered; zero: not yet
	NextPoll    time.Time // zero: it is being polled or worked on
}

// Health is the health of a fleet.
type Health struct {
	Stores []StoreHealth // by key
	// Healthy is false if a store fails or the list of databases cannot be read.
	Healthy bool
	// Summary describes it in a sentence.
	Summary string
	// Connections and Handlers are in use; the others are the budgets.
	Connections, MaxConnections int
	Handlers, MaxHandlers       int
	// Share is with which processes the stores are shared; nil: they are not. A list that is
	// old is no failure.
	Share *ShareHealth
}

// String returns the summary and, below it, a line for each store that fails.
func (h Health) String() string {
	lines := []string{h.Summary}
	for i := range h.Stores {
		if s := &h.Stores[i]; s.State == Failing {
			lines = append(lines, s.finding().String())
		}
	}
	return strings.Join(lines, "\n")
}

// Health reports how the stores are, from what is known: it asks no database.
func (f *Fleet) Health() Health {
	h := Health{
		Connections: f.conns.used(), MaxConnections: f.conns.total(), Handlers: f.handlers.used(), MaxHandlers: f.handlers.total(),
	}
	h.Share = f.share.health()
	failing, mine := 0, 0
	for _, s := range f.registry.all() {
		one := s.health()
		if one.State != Elsewhere {
			mine++
		}
		if one.State == Failing {
			failing++
		}
		h.Stores = append(h.Stores, one)
	}
	_, listErr := f.registry.state()
	h.Healthy = failing == 0 && listErr == nil && len(h.Stores) > 0
	switch {
	case listErr != nil:
		h.Summary = fmt.Sprintf("the list of databases cannot be read (%v); %d stores are known, %d of them failing", listErr, len(h.Stores), failing)
	case len(h.Stores) == 0:
		h.Summary = "no store is known yet"
	case failing > 0:
		h.Summary = fmt.Sprintf("%d of %d stores fail", failing, len(h.Stores))
	default:
		h.Summary = fmt.Sprintf("all %d stores are well", len(h.Stores))
	}
	h.Summary += h.Share.summary(mine)
	return h
}

// health returns the health of the store.
func (s *Store) health() StoreHealth {
	h := StoreHealth{Key: s.Key, Where: s.at.Where(), State: s.fleet.turns.state(s), NextPoll: s.fleet.timetable.at(s)}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Failures, h.LastSuccess = s.failures, s.lastSuccess
	switch {
	case h.State == Idle && !s.isOurs():
		h.State = Elsewhere
	case s.lastErr != nil:
		h.Error, h.State = s.lastErr.Error(), Failing
	}
	return h
}
