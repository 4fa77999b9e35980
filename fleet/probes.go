package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/checker"
)

// Probes returns a fleet's health for probe.Handler. A store that fails is a check of its
// own, "store/KEY", so that a fleet with one is not ready; probes of the fleet as a whole
// leave them out with "?exclude=store". Like Health it makes no query: whether work waits in
// a store that no fleet works on is checked by "pawl health --fleet".
func (f *Fleet) Probes() health.Source { return probes{f} }

type probes struct{ f *Fleet }

const (
	// listed is how many failing stores a report names.
	listed = 20
	// latePoll is the delay of polls from which the polling loop must hang: they are made in
	// order, and the first is the latest.
	latePoll = 5 * time.Minute
)

// Health reports the health of the stores from memory.
func (p probes) Health(context.Context) health.Report {
	h := p.f.Health()
	failing := 0
	var stores []health.Finding
	for i := range h.Stores {
		s := &h.Stores[i]
		if s.State != Failing {
			continue
		}
		if failing++; failing <= listed {
			stores = append(stores, s.finding())
		}
	}
	if failing > listed {
		stores = append(stores, health.Finding{Code: "store", Level: health.Problem, Summary: fmt.Sprintf("and %d more", failing-listed)})
	}
	found := []health.Finding{p.f.life.Finding(), p.polling(), p.f.summary(&h, failing)}
	return health.NewReport(append(found, stores...))
}

// Alive reports whether stores are still polled when it is their time.
func (p probes) Alive() health.Report {
	return health.NewReport([]health.Finding{p.polling()})
}

// summary is how the fleet is as a whole: it is a problem if no store works.
func (f *Fleet) summary(h *Health, failing int) health.Finding {
	found := health.Finding{Code: "stores", Summary: h.Summary, Facts: health.Facts{
		{Key: "stores", Value: len(h.Stores)}, {Key: "failing", Value: failing},
		{Key: "connections", Value: h.Connections}, {Key: "max_connections", Value: h.MaxConnections},
		{Key: "handlers", Value: h.Handlers}, {Key: "max_handlers", Value: h.MaxHandlers},
	}}
	switch {
	case failing == len(h.Stores): // or there are none
		found.Level = health.Problem
	case !h.Healthy:
		found.Level = health.Warning
	}
	return found
}

func (s *StoreHealth) finding() health.Finding {
	last := "it never answered"
	facts := health.Facts{{Key: "failures", Value: s.Failures}}
	if !s.LastSuccess.IsZero() {
		ago := time.Since(s.LastSuccess).Round(time.Second)
		last = fmt.Sprintf("it last answered %s ago", ago)
		facts = append(facts, health.Fact{Key: "last_success", Value: ago.Seconds()})
	}
	return health.Finding{
		Code: "store/" + s.Key, Level: health.Problem, Facts: facts,
		Summary: fmt.Sprintf("failed %d times in a row, %s: %s", s.Failures, last, s.Error),
	}
}

// polling reports whether the loop iterates that polls stores.
func (p probes) polling() health.Finding {
	found := health.Finding{Code: "loop/polls", Summary: "stores are polled in time"}
	if phase, _ := p.f.life.Phase(); phase != checker.Running {
		found.Summary = "no stores have to be polled: the fleet is " + string(phase)
		return found
	}
	if s, late := p.f.timetable.overdue(time.Now()); late > latePoll {
		found.Level = health.Problem
		found.Summary = fmt.Sprintf("hangs: store %s should have been polled %s ago", s.Key, late.Round(time.Second))
		found.NextStep = "restart this process"
	}
	return found
}
