// Package health is what pawl's diagnoses consist of: findings, and reports of them. The
// health of a process and its database, what admin.Examine finds and what admin.Explain
// explains are all findings.
//
//	report := p.Health(ctx)
//	if !report.Healthy() {
//		log.Print(report)
//	}
//
// Only what keeps work from being done makes a report unhealthy: a database that is away,
// a schema that does not fit, a loop that hangs, work that is due and that nobody claims.
// What is well is not to be restarted because of messages that failed, are paused or are
// due later. Package health/probe serves reports over HTTP.
package health

import (
	"context"
	"strings"
	"time"
)

// Report is what was found of a database, a process or a fleet.
type Report struct {
	// Level is that of the worst finding.
	Level    Level     `json:"level"`
	Findings []Finding `json:"findings"`
}

// NewReport returns the report of findings, such as a program's own beside pawl's.
func NewReport(findings []Finding) Report {
	r := Report{Findings: findings}
	for i := range findings {
		r.Level = max(r.Level, findings[i].Level)
	}
	return r
}

// Healthy reports whether there is no problem. Warnings are none.
func (r Report) Healthy() bool { return r.Level < Problem }

// Find returns the first finding of a code, nil if there is none.
func (r Report) Find(code string) *Finding {
	for i := range r.Findings {
		if r.Findings[i].Code == code {
			return &r.Findings[i]
		}
	}
	return nil
}

// String returns the report as text, a line for each finding.
func (r Report) String() string {
	lines := make([]string, len(r.Findings))
	for i := range r.Findings {
		lines[i] = r.Findings[i].line()
	}
	return strings.Join(lines, "\n")
}

// Source is what can be asked for its health: a *pawl.Pawl, or a *fleet.Fleet.
type Source interface {
	// Health checks everything, the database included: whether work should be given to
	// this process, that is, whether it is ready.
	Health(ctx context.Context) Report
	// Alive reports, without a query, whether the loops of this process run. If they do
	// not, only a restart helps.
	Alive() Report
}

// Options adjust what counts as healthy. The zero value is right for most programs.
type Options struct {
	// Timeout bounds all that is asked of the database together, default 2 s.
	Timeout time.Duration
	// Waiting is how long work may be due that nobody claims, default 1 minute.
	Waiting time.Duration
	// Busy is the same while workers hold other messages of the queue, default 10
	// minutes: with all their places taken they claim no more. Make it longer than
	// the longest handler.
	Busy time.Duration
	// Failing is how long a loop may fail in a row, default 1 minute.
	Failing time.Duration
	// Stalled is how long past its time a loop may be before it counts as hanging,
	// default 2 minutes. What a database that hangs can take, time-outs and pauses
	// included, is less, unless its statement timeout is longer than 30 s.
	Stalled time.Duration
	// Unhandled is for how long messages may wait that no live worker has a handler for, default 5
	// minutes: until then they are a warning.
	Unhandled time.Duration
	// FailingShare and FailingAttempts are what makes a topic whose attempts fail more often than
	// they succeed a problem: the share of attempts that failed, 0 … 1, default 0.8, and how many
	// did, default 20. Until then it is a warning.
	FailingShare    float64
	FailingAttempts int
	// Queues are whose waiting work counts; nil: all of the database, whoever
	// serves them.
	Queues []string
}
