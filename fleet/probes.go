package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
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
	var stores []health.Check
	for i := range h.Stores {
		s := &h.Stores[i]
		if s.State != Failing {
			continue
		}
		if failing++; failing <= listed {
			stores = append(stores, s.check())
		}
	}
	if failing > listed {
		stores = append(stores, health.Check{Name: "store", Verdict: health.Fail, Text: fmt.Sprintf("and %d more", failing-listed)})
	}
	checks := []health.Check{p.f.life.Check(), p.polling(&h), p.f.summary(&h, failing)}
	return health.NewReport(append(checks, stores...))
}

// Alive reports whether stores are still polled on time.
func (p probes) Alive() health.Report {
	h := p.f.Health()
	return health.NewReport([]health.Check{p.polling(&h)})
}

// summary returns the check of the whole fleet: it fails if no store works.
func (f *Fleet) summary(h *Health, failing int) health.Check {
	c := health.Check{Name: "stores", Verdict: health.OK, Text: h.Summary, Data: map[string]any{
		"stores": len(h.Stores), "failing": failing, "connections": h.Connections, "max_connections": h.MaxConnections,
		"handlers": h.Handlers, "max_handlers": h.MaxHandlers,
	}}
	switch {
	case failing == len(h.Stores): // or there are none
		c.Verdict = health.Fail
	case !h.Healthy:
		c.Verdict = health.Warn
	}
	return c
}

func (s *StoreHealth) check() health.Check {
	last := "it never answered"
	data := map[string]any{"failures": s.Failures}
	if !s.LastSuccess.IsZero() {
		ago := time.Since(s.LastSuccess).Round(time.Second)
		last = fmt.Sprintf("it last answered %s ago", ago)
		data["last_success"] = ago.Seconds()
	}
	return health.Check{Name: "store/" + s.Key, Verdict: health.Fail, Text: fmt.Sprintf("failed %d times in a row, %s: %s", s.Failures, last, s.Error), Data: data}
}

// polling checks whether the polling loop iterates.
func (p probes) polling(h *Health) health.Check {
	c := health.Check{Name: "loop/polls", Verdict: health.OK, Text: "stores are polled in time"}
	if phase, _ := p.f.life.Phase(); phase != health.Running {
		c.Text = "no stores have to be polled: the fleet is " + string(phase)
		return c
	}
	for i := range h.Stores {
		at := h.Stores[i].NextPoll
		if late := time.Since(at); !at.IsZero() && late > latePoll {
			c.Verdict = health.Fail
			c.Text = fmt.Sprintf("hangs: store %s should have been polled %s ago", h.Stores[i].Key, late.Round(time.Second))
			return c
		}
	}
	return c
}
