package explain

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/inbox"
)

// inbox explains a message of the inbox and, if it was enqueued, its message.
func (l *look) inbox(ctx context.Context, m *inbox.Info) (*Explanation, error) {
	x := &Explanation{Kind: Inbox, ID: m.Key.String(), Facts: l.inboxFacts(m)}
	queued, err := l.message(ctx, m.QueuedAs())
	if err != nil && !absent(err) {
		return nil, err
	}
	if err == nil {
		x.Because = []*Explanation{queued}
	}
	x.Hold = l.inboxHold(m, x.Because)
	return x, nil
}

func (l *look) inboxFacts(m *inbox.Info) (f Facts) {
	f.add("status", string(m.Status))
	l.addTime(&f, "first_seen", m.FirstSeenAt)
	l.addTime(&f, "last_seen", m.LastSeenAt)
	l.addTime(&f, "processed", m.ProcessedAt)
	f.number("deliveries", m.Deliveries)
	f.number("attempts", int64(m.Attempts))
	if m.Mismatches > 0 {
		f.number("mismatches", int64(m.Mismatches))
	}
	l.addTime(&f, "lease_until", m.LockedUntil)
	f.add("last_error", m.LastError)
	return f
}

func (l *look) inboxHold(m *inbox.Info, queued []*Explanation) Hold {
	switch m.Status {
	case inbox.Done:
		return Hold{Reason: InboxDone, Sentence: fmt.Sprintf("It was processed at %s.", l.when(m.ProcessedAt))}
	case inbox.Dead:
		return Hold{InboxDead, fmt.Sprintf("It was given up after %s%s", several(int64(m.Attempts), "attempt"), stop(after(m.LastError))),
			fmt.Sprintf("pawl inbox revive %s %s", quoted(m.Source), quoted(m.MessageID))}
	case inbox.Processing:
		if m.LockedUntil.After(l.now) {
			return Hold{Reason: InboxProcessing, Sentence: fmt.Sprintf("Attempt %d is under way, with a lease until %s unless extended.", m.Attempts, l.when(m.LockedUntil))}
		}
		if len(queued) == 0 || over(queued[0]) {
			return l.stale(m)
		}
	}
	if len(queued) > 0 && !over(queued[0]) {
		return Hold{InboxQueued, "It was enqueued for the workers. " + queued[0].Sentence, queued[0].Next}
	}
	failed := ""
	if m.LastError != "" {
		failed = fmt.Sprintf(" Attempt %d failed%s", m.Attempts, stop(after(m.LastError)))
	}
	return Hold{InboxSeen, fmt.Sprintf("It was last delivered at %s and is not in the queue: it is processed when its sender delivers it again.%s", l.when(m.LastSeenAt), failed),
		"have it delivered again"}
}

// stale explains a message that is marked as being processed.
func (l *look) stale(m *inbox.Info) Hold {
	h := Hold{Reason: InboxStale, Sentence: fmt.Sprintf("It was marked as being processed, without a lease, and last delivered at %s.", l.when(m.LastSeenAt)), Next: "have it delivered again"}
	if !m.LockedUntil.IsZero() {
		h.Sentence = fmt.Sprintf("Attempt %d let its lease run out at %s: its process died, most likely. The next delivery processes it again.", m.Attempts, l.when(m.LockedUntil))
	}
	return h
}

// over reports whether a message does not run again by itself.
func over(m *Explanation) bool {
	return m.Kind == Message && (m.Reason == Done || m.Reason == Failed || m.Reason == Discarded)
}
