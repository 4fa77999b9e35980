package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/limits"
)

const (
	// overdue is how long something may wait that any worker handles at once.
	overdue = 5 * time.Minute
	// maxRows bounds how many rows a check reads.
	maxRows = 1000
	// sample is how many messages and runs are read on either end.
	sample = 200
	// maxStuck bounds how many stuck messages of the inbox are counted.
	maxStuck = 100
	// mentioned is how many of the things found a finding names.
	mentioned = 3
)

const runWorkers = "Run workers, and see what their logs say: pawl work, or the program's Run."

// checkClaims finds claimed messages whose leases expired and which nobody releases.
func (e *examination) checkClaims(ctx context.Context) ([]health.Finding, error) {
	expired, _, err := engine.Get(ctx, e.db, op.DoctorClaims{Age: overdue, Look: maxRows})
	switch {
	case err != nil:
		return nil, err
	case expired.Runs == 0:
		return one(health.OK, "no message is claimed whose lease has been over for "+engine.Exact(overdue), ""), nil
	}
	return one(health.Warning, fmt.Sprintf("%d messages are claimed although their leases are over, the first for %s, and nobody puts them back", expired.Messages, e.ago(expired.Since)), runWorkers), nil
}

// checkWork finds work that nobody does and work that fails, as a health check from outside does.
func (e *examination) checkWork(ctx context.Context) ([]health.Finding, error) {
	return checker.Work(ctx, e.db, health.Options{}), nil
}

// checkSchedule finds timers and jobs that are overdue.
func (e *examination) checkSchedule(ctx context.Context) ([]health.Finding, error) {
	n, err := inspect.Counts(ctx, e.db, overdue, maxRows)
	if err != nil {
		return nil, err
	}
	var found []health.Finding
	for _, late := range []struct {
		what   string
		n      int64
		micros int64
	}{{"timers", n.TimersDue, n.TimersDueMicros}, {"claimed timers", n.TimersExpired, n.TimersExpiredMicros}, {"jobs", n.JobsDue, n.JobsDueMicros}} {
		if late.n > 0 {
			found = append(found, engine.NewFinding(health.Warning, fmt.Sprintf("%s %s overdue, the oldest for %s", engine.AtLeast(late.n, late.n >= maxRows), late.what, engine.Span(inspect.Age(late.micros))), runWorkers))
		}
	}
	return engine.OrOK(found, "no timer or job is overdue by more than "+engine.Exact(overdue)), nil
}

// ago returns how long ago a time of the database was.
func (e *examination) ago(t *time.Time) string {
	if t == nil {
		return "?"
	}
	return engine.Span(e.now().Sub(*t))
}

// checkInbox finds messages of the inbox that are stuck.
func (e *examination) checkInbox(ctx context.Context) ([]health.Finding, error) {
	stuck, more, err := inspect.Stuck(ctx, e.db, maxStuck)
	switch {
	case err != nil:
		return nil, err
	case len(stuck) == 0:
		return one(health.OK, "nothing is being processed that was not heard of for "+engine.Exact(limits.InboxStuck), ""), nil
	}
	var keys []string
	for _, m := range stuck[:min(len(stuck), mentioned)] {
		keys = append(keys, fmt.Sprintf("%q", inbox.Key{Source: m.Source, MessageID: m.MessageID}.String()))
	}
	evidence := fmt.Sprintf("%s messages are being processed and were not heard of for %v: %s", engine.AtLeast(int64(len(stuck)), more), engine.Exact(limits.InboxStuck), engine.Listed(keys, len(stuck), mentioned))
	return one(health.Warning, evidence, "They were begun and not ended: have their senders deliver them again, or look at one with: pawl inbox show SOURCE ID"), nil
}

// checkLeases finds leases that expired without being released.
func (e *examination) checkLeases(ctx context.Context) ([]health.Finding, error) {
	lapsed, _, err := engine.Get(ctx, e.db, op.DoctorLeases{Look: maxRows})
	switch {
	case err != nil:
		return nil, err
	case lapsed.N == 0:
		return one(health.OK, "every lease is held or was given back", ""), nil
	}
	return one(health.Note, fmt.Sprintf("%d leases ran out without being given back, the last %s ago, %q among them: their holders crashed or lost the database", lapsed.N, e.ago(lapsed.Last), *lapsed.Name),
		"Nothing: the next who asks gets them."), nil
}
