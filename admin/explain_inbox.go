package admin

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
)

// inbox explains a message of the inbox and, if it was enqueued, its message.
func (e *explainer) inbox(ctx context.Context, m *inbox.Info) (*Explanation, error) {
	x := &Explanation{Kind: Inbox, ID: m.Key.String(), Facts: e.inboxFacts(m)}
	queued, err := e.message(ctx, inbox.MessageIDOf(access.Key{}, m.Key))
	if err != nil && !absent(err) {
		return nil, err
	}
	if queued != nil {
		x.Causes = []Explanation{*queued}
	}
	x.Finding = e.inboxBlocker(m, queued)
	return x, nil
}

func (e *explainer) inboxFacts(m *inbox.Info) (f health.Facts) {
	add(&f, "status", string(m.Status))
	e.addTime(&f, "first_seen", m.FirstSeenAt)
	e.addTime(&f, "last_seen", m.LastSeenAt)
	e.addTime(&f, "processed", m.ProcessedAt)
	addNumber(&f, "deliveries", m.Deliveries)
	addNumber(&f, "attempts", int64(m.Attempts))
	if m.Mismatches > 0 {
		addNumber(&f, "mismatches", int64(m.Mismatches))
	}
	e.addTime(&f, "lease_until", m.LockedUntil)
	add(&f, "last_error", m.LastError)
	return f
}

// inboxBlocker returns what keeps a message from being processed. queued is its message in
// the queue, nil if there is none.
func (e *explainer) inboxBlocker(m *inbox.Info, queued *Explanation) health.Finding {
	switch m.Status {
	case inbox.Done:
		return blocker(codeInboxDone, fmt.Sprintf("It was processed at %s.", e.when(m.ProcessedAt)), "")
	case inbox.Dead:
		return blocker(codeInboxDead, fmt.Sprintf("It was given up after %s%s", engine.Several(int64(m.Attempts), "attempt"), stop(after(m.LastError))), fmt.Sprintf("pawl inbox revive %s %s", engine.Quoted(m.Source), engine.Quoted(m.MessageID)))
	case inbox.Processing:
		if m.LockedUntil.After(e.now) {
			return blocker(codeInboxProcessing, fmt.Sprintf("Attempt %d is under way, with a lease until %s unless extended.", m.Attempts, e.when(m.LockedUntil)), "")
		}
		if queued == nil || over(queued) {
			return e.stale(m)
		}
	}
	if queued != nil && !over(queued) {
		return blockedBy(codeInboxQueued, "It was enqueued for the workers.", queued)
	}
	failed := ""
	if m.LastError != "" {
		failed = fmt.Sprintf(" Attempt %d failed%s", m.Attempts, stop(after(m.LastError)))
	}
	return blocker(codeInboxSeen, fmt.Sprintf("It was last delivered at %s and is not in the queue: it is processed when its sender delivers it again.%s", e.when(m.LastSeenAt), failed), "have it delivered again")
}

// stale explains a message that is marked as being processed.
func (e *explainer) stale(m *inbox.Info) health.Finding {
	f := blocker(codeInboxStale, fmt.Sprintf("It was marked as being processed, without a lease, and last delivered at %s.", e.when(m.LastSeenAt)), "have it delivered again")
	if !m.LockedUntil.IsZero() {
		f.Summary = fmt.Sprintf("Attempt %d let its lease run out at %s: its process died, most likely. The next delivery processes it again.", m.Attempts, e.when(m.LockedUntil))
	}
	return f
}

// over reports whether a message will not run again by itself.
func over(m *Explanation) bool {
	return m.Kind == Message && (m.Code == codeDone || m.Code == codeFailed || m.Code == codeDiscarded || m.Code == codeExpired)
}
