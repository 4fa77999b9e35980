package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
)

const (
	// listed is how many failing stores a report names.
	listed = 20
	// latePoll is the delay of polls from which the polling loop must hang: they are made in
	// order, and the first is the latest.
	latePoll = 5 * time.Minute
)

// Health reports how the stores are, from what is known: it makes no query. A store that fails is a
// finding of its own, "store/KEY", at most 20 of them, and makes the report unhealthy; probes of the fleet as a whole
// leave them out with "?exclude=store". Whether work waits in a store that no fleet works on is
// checked by "pawl health --fleet".
func (f *Fleet) Health(context.Context) health.Report {
	h := f.state()
	failing := 0
	var stores []health.Finding
	for i := range h.Stores {
		s := &h.Stores[i]
		if s.State != fleetstate.Failing {
			continue
		}
		if failing++; failing <= listed {
			stores = append(stores, failed(s))
		}
	}
	if failing > listed {
		stores = append(stores, health.Finding{Code: "store", Level: health.Problem, Summary: fmt.Sprintf("and %d more", failing-listed)})
	}
	found := []health.Finding{f.life.Finding(), f.polling(), f.summary(&h, failing)}
	return health.NewReport(append(found, stores...))
}

// Alive reports whether stores are still polled when it is their time.
func (f *Fleet) Alive() health.Report {
	return health.NewReport([]health.Finding{f.polling()})
}

// summary is how the fleet is as a whole: it is a problem if no store works.
func (f *Fleet) summary(h *fleetstate.Fleet, failing int) health.Finding {
	of := func(s fleetstate.State) health.Fact {
		n := 0
		for i := range h.Stores {
			if h.Stores[i].State == s {
				n++
			}
		}
		return health.Fact{Key: string(s), Value: n}
	}
	found := health.Finding{Code: "stores", Summary: h.Summary, Facts: health.Facts{
		{Key: "stores", Value: len(h.Stores)}, {Key: "failing", Value: failing},
		of(fleetstate.Idle), of(fleetstate.Waiting), of(fleetstate.Active), of(fleetstate.Elsewhere),
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

// failed is the finding for a store that fails.
func failed(s *fleetstate.Store) health.Finding {
	last := "it never answered"
	facts := health.Facts{{Key: "failures", Value: s.Failures}}
	if !s.LastSuccess.IsZero() {
		ago := time.Since(s.LastSuccess).Round(time.Second)
		last = fmt.Sprintf("it last answered %s ago", engine.Exact(ago))
		facts = append(facts, health.Fact{Key: "last_success", Value: ago.Seconds()})
	}
	return health.Finding{
		Code: "store/" + s.Key, Level: health.Problem, Facts: facts,
		Summary: fmt.Sprintf("failed %d times in a row, %s: %s", s.Failures, last, s.Error),
	}
}

// polling reports whether the loop iterates that polls stores.
func (f *Fleet) polling() health.Finding {
	found := health.Finding{Code: "loop/polls", Summary: "stores are polled in time"}
	if phase, _ := f.life.Phase(); phase != checker.Running {
		found.Summary = "no stores have to be polled: the fleet is " + string(phase)
		return found
	}
	if s, late := f.timetable.overdue(time.Now()); late > latePoll {
		found.Level = health.Problem
		found.Summary = fmt.Sprintf("hangs: store %s should have been polled %s ago", s.Key, engine.Exact(late.Round(time.Second)))
		found.NextStep = "restart this process"
	}
	return found
}
