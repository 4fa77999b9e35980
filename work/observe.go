package work

import "time"

// Observer is told what happens, for metrics. Its methods are called by many
// goroutines at once, between one message and the next: they must be quick.
type Observer interface {
	// Enqueued says that n messages of a topic were written. In a transaction of
	// the caller's they are there once that commits.
	Enqueued(queue, topic string, n int)
	// Claimed says that a claim brought n items.
	Claimed(queue string, n int)
	// Attempted says that an item's attempt came to an end here.
	Attempted(Attempt)
	// Reaped says that n items were brought back whose lease had run out.
	Reaped(queue string, n int64)
}

// Attempt is one handling of an item, and what became of it.
type Attempt struct {
	Queue, Topic string
	Outcome      Outcome
	// Retry is how many attempts failed before.
	Retry int
	// Waited is how long it could have been claimed before it was handled, by this
	// process's clock against the database's; 0 unless this is the first attempt.
	Waited time.Duration
	// Took is how long the handler ran; 0 if there was none.
	Took time.Duration
	// Scheduled is true for items that had a due time.
	Scheduled bool
	// Body is the item's, an *outbox.Message.
	Body any
}

// Outcome is what became of an attempt.
type Outcome int

// The outcomes. All but the first two leave the item for another attempt.
const (
	OutcomeAcked     Outcome = iota // handled
	OutcomeFailed                   // failed for good
	OutcomeRetried                  // failed, to be tried again
	OutcomeSnoozed                  // put off by its handler
	OutcomeUnhandled                // put back: no handler here
	OutcomePaused                   // put back: its topic or queue is paused
	OutcomeReleased                 // put back: this worker stops, or the lease was running out
	OutcomeLost                     // its lease was lost meanwhile
	OutcomeSettled                  // settled by its handler, in a transaction of its own
)

// String returns the outcome in a word.
func (o Outcome) String() string {
	words := []string{"acked", "failed", "retried", "snoozed", "unhandled", "paused", "released", "lost", "settled"}
	if o < 0 || int(o) >= len(words) {
		return "unknown"
	}
	return words[o]
}

// claimed counts what a claim brought.
func (l *Loop[M]) claimed(n int) {
	l.stats.claimed(n)
	if l.cfg.Observer != nil && n > 0 {
		l.cfg.Observer.Claimed(l.cfg.Name, n)
	}
}

// observe reports an attempt that began at a time.
func (l *Loop[M]) observe(t *task[M], r result, began time.Time) {
	if l.cfg.Observer == nil {
		return
	}
	a := Attempt{Queue: l.cfg.Name, Topic: t.item.Topic, Outcome: r.fate, Retry: t.item.Retry, Scheduled: t.item.Scheduled, Body: t.item.Body}
	if !began.IsZero() {
		a.Took = time.Since(began)
		if t.item.Retry == 0 && !t.item.Since.IsZero() {
			a.Waited = max(began.Sub(t.item.Since), 0)
		}
	}
	l.cfg.Observer.Attempted(a)
}
