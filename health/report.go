// Package health reports whether a database and the process that works on it are
// well, for people and for probes.
//
// Health that lies is worse than none, in both directions: what is well must not be
// restarted, and what stands still must not look well. So only what keeps work from
// being done is a failure: a database that is away, a schema that does not fit, a
// loop that hangs, and work that could be claimed and that nobody claims. Messages
// that failed, that are paused or that lie in the future are none (D-110).
package health

import (
	"context"
	"strings"
)

// Verdict is what a check comes to.
type Verdict string

// The verdicts. Only Fail makes a report unhealthy.
const (
	OK   Verdict = "ok"
	Warn Verdict = "warn" // an operator should check
	Fail Verdict = "fail"
)

// Check is the verdict on one thing.
type Check struct {
	// Name is the same each time, "database" or, of one of several, "waiting/queue/mail".
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Text says it in a sentence.
	Text string `json:"text"`
	// Data are the numbers: counts, and durations in seconds.
	Data map[string]any `json:"data,omitempty"`
}

// Of reports whether a check is meant by a name: its own, or its kind's, which is
// what comes before the first slash.
func (c *Check) Of(name string) bool {
	kind, _, _ := strings.Cut(c.Name, "/")
	return name == c.Name || name == kind
}

// Report is how everything is.
type Report struct {
	Verdict Verdict `json:"verdict"`
	Checks  []Check `json:"checks"`
}

// NewReport returns the report of some checks: as bad as the worst.
func NewReport(checks []Check) Report {
	r := Report{Verdict: OK, Checks: checks}
	for i := range checks {
		switch v := checks[i].Verdict; {
		case v == Fail:
			r.Verdict = Fail
		case v == Warn && r.Verdict == OK:
			r.Verdict = Warn
		}
	}
	return r
}

// Healthy reports whether nothing failed. Warnings are no failures.
func (r Report) Healthy() bool { return r.Verdict != Fail }

// Check returns the check of a name, or nil.
func (r Report) Check(name string) *Check {
	for i := range r.Checks {
		if r.Checks[i].Name == name {
			return &r.Checks[i]
		}
	}
	return nil
}

// Without returns the report without the checks that are meant by names, and those
// names that meant none.
func (r Report) Without(names ...string) (Report, []string) {
	var left []Check
	met := map[string]bool{}
	for i := range r.Checks {
		out := false
		for _, name := range names {
			if r.Checks[i].Of(name) {
				out, met[name] = true, true
			}
		}
		if !out {
			left = append(left, r.Checks[i])
		}
	}
	var vain []string
	for _, name := range names {
		if !met[name] {
			vain = append(vain, name)
		}
	}
	return NewReport(left), vain
}

// Source is what can be asked for its health: a *pawl.Pawl, or a fleet's probes.
type Source interface {
	// Health checks everything, the database included. It says whether work
	// should be given to this process: it is ready.
	Health(ctx context.Context) Report
	// Alive reports, without a query, whether the loops of this process
	// still go round. If they do not, only a restart helps.
	Alive() Report
}

// few bounds how many checks of a kind a report lists.
const few = 20

func ok(name, text string) Check   { return Check{Name: name, Verdict: OK, Text: text} }
func warn(name, text string) Check { return Check{Name: name, Verdict: Warn, Text: text} }
func fail(name, text string) Check { return Check{Name: name, Verdict: Fail, Text: text} }

// with adds a number.
func (c Check) with(name string, value any) Check {
	if c.Data == nil {
		c.Data = map[string]any{}
	}
	c.Data[name] = value
	return c
}
