package fleet

import (
	"fmt"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
)

// operator is what the command line, the dashboard and metrics do and read beside what programs do.
type operator struct{ *Fleet }

// Operator returns what operators do. Programs cannot name its parameter.
func (f *Fleet) Operator(access.Key) operator { return operator{f} } //nolint:revive // what is pawl's own has no public name

// State returns what is known of the stores: it asks no database.
func (f operator) State() fleetstate.Fleet { return f.state() }

func (f *Fleet) state() fleetstate.Fleet {
	h := fleetstate.Fleet{
		Connections: f.conns.used(), MaxConnections: f.conns.total(), Handlers: f.handlers.used(), MaxHandlers: f.handlers.total(),
	}
	h.Share = f.share.health()
	failing, mine := 0, 0
	for _, s := range f.registry.all() {
		one := s.health()
		if one.State != fleetstate.Elsewhere {
			mine++
		}
		if one.State == fleetstate.Failing {
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
	h.Summary += shareSummary(h.Share, mine)
	return h
}

// health returns the health of the store.
func (s *Store) health() fleetstate.Store {
	h := fleetstate.Store{Key: s.Key, Where: s.at.Where(access.Key{}), State: s.fleet.turns.state(s), NextPoll: s.fleet.timetable.at(s)}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Failures, h.LastSuccess = s.failures, s.lastSuccess
	switch {
	case h.State == fleetstate.Idle && !s.isOurs():
		h.State = fleetstate.Elsewhere
	case s.lastErr != nil:
		h.Error, h.State = s.lastErr.Error(), fleetstate.Failing
	}
	return h
}
