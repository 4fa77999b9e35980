package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
)

const (
	// overdue is how long something may wait that any worker handles at once.
	overdue = 5 * time.Minute
	// maxRows bounds how many rows a check reads.
	maxRows = 1000
	// sample is how many messages and runs are read on either end.
	sample = 200
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
		return one(health.OK, fmt.Sprintf("no message is claimed whose lease has been over for %v", overdue), ""), nil
	}
	return one(health.Warning, fmt.Sprintf("%d messages are claimed although their leases are over, the first for %s, and nobody puts them back", expired.Messages, e.ago(expired.Since)), runWorkers), nil
}

// checkSchedule finds timers and jobs that are overdue.
func (e *examination) checkSchedule(ctx context.Context) ([]health.Finding, error) {
	counts, err := engine.Query(ctx, e.db, op.BacklogCounts{Age: overdue, Most: maxRows})
	kinds := map[string]string{"timers/due": "timers", "timers/expired": "claimed timers", "jobs/due": "jobs"}
	var found []health.Finding
	for _, c := range counts {
		if kind := kinds[c.What+"/"+c.Which]; kind != "" && c.N > 0 {
			late := time.Duration(worker.Value(c.Micros)) * time.Microsecond
			found = append(found, one(health.Warning, fmt.Sprintf("%s %s overdue, the oldest for %s", atLeast(c.N), kind, late.Round(time.Second)), runWorkers)...)
		}
	}
	if err == nil && found == nil {
		found = one(health.OK, fmt.Sprintf("no timer or job is overdue by more than %v", overdue), "")
	}
	return found, err
}

func atLeast(n int64) string {
	if n >= maxRows {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

// ago returns how long ago a time of the database was.
func (e *examination) ago(t *time.Time) string {
	if t == nil {
		return "?"
	}
	return e.now().Sub(*t).Round(time.Second).String()
}

// checkInbox finds messages of the inbox that are stuck.
func (e *examination) checkInbox(ctx context.Context) ([]health.Finding, error) {
	stuck, err := engine.Query(ctx, e.db, op.InboxStuck{Age: limits.InboxStuck, Most: 100})
	switch {
	case err != nil:
		return nil, err
	case len(stuck) == 0:
		return one(health.OK, fmt.Sprintf("nothing is being processed that was not heard of for %v", limits.InboxStuck), ""), nil
	}
	var keys []string
	for _, m := range stuck[:min(len(stuck), mentioned)] {
		keys = append(keys, fmt.Sprintf("%q", inbox.Key{Source: m.Source, MessageID: m.MessageID}.String()))
	}
	evidence := fmt.Sprintf("%d messages are being processed and were not heard of for %v: %s", len(stuck), limits.InboxStuck, listed(keys, len(stuck)))
	return one(health.Warning, evidence, "They were begun and not ended: have their senders deliver them again, or look at one with: pawl inbox show SOURCE ID"), nil
}

// listed returns the first of n things in words.
func listed(some []string, n int) string {
	text := strings.Join(some, ", ")
	if n > len(some) {
		text += ", …"
	}
	return text
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
