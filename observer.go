package pawl

import (
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Observer is a set of functions that Pawl.Observe registers, for metrics. Those that are
// nil are not called. The others are called by many goroutines at once, those of a worker
// between one claim and the next: they must be quick, and not panic.
type Observer struct {
	// Enqueued is called when messages were written, in a caller's transaction perhaps not
	// committed yet.
	Enqueued func(queue, topic string, n int)
	// Claimed is called when a claim returned n messages.
	Claimed func(queue string, n int)
	// Attempted is called when attempts ended and their outcomes are in the database.
	Attempted func(attempts []Attempt)
	// Reaped is called when messages of expired leases are ready again.
	Reaped func(queue string, n int64)
	// TimersFired is called when timers were dispatched.
	TimersFired func(n int64)
	// RunsCreated is called when runs of jobs were created.
	RunsCreated func(n int64)
	// JoinsRepaired is called when the clean-up repaired joins and woke waits: a bug, or changes by
	// hand.
	JoinsRepaired func(joins, waits int64)
	// LeaseAcquired is called when a lease begins in this process.
	LeaseAcquired func(name string, token int64)
	// LeaseEnded is called when it ended; lost: not by Close.
	LeaseEnded func(name string, lost bool)
}

// Attempt is one handling of a message, and what became of it.
type Attempt struct {
	*outbox.Message // as it was claimed: RetryCount is how many attempts failed before
	Outcome         Outcome
	// Waited is how long it was claimable before it was handled, by this process's clock
	// against the database's; 0 unless this is the first attempt.
	Waited time.Duration
	// Began is when the handler started, by this process's clock, and Took how long it
	// ran; zero if it did not start.
	Began time.Time
	Took  time.Duration
}

// Outcome is what became of an attempt. More may come: have a default for them.
type Outcome string

// The outcomes. All but the first five leave the message for another attempt.
const (
	OutcomeAcked     Outcome = "acked"     // handled
	OutcomeFailed    Outcome = "failed"    // for good
	OutcomeSettled   Outcome = "settled"   // by its handler, in a transaction of its own
	OutcomeExpired   Outcome = "expired"   // without an attempt: it was too late for one
	OutcomeCancelled Outcome = "cancelled" // while it ran, or was about to
	OutcomeRetried   Outcome = "retried"   // failed, to be tried again
	OutcomeSnoozed   Outcome = "snoozed"   // put off by its handler
	OutcomeUnhandled Outcome = "unhandled" // no handler here
	OutcomePaused    Outcome = "paused"    // its topic or queue is paused
	OutcomeReleased  Outcome = "released"  // this worker stops, or the lease was running out
	OutcomeLost      Outcome = "lost"      // with its lease; the database may not have its outcome
)

// Observe registers an observer of what the components of this process do. Call it before
// Run.
func (p *Pawl) Observe(o Observer) {
	w := worker.Observer{
		Enqueued: o.Enqueued, Claimed: o.Claimed, Reaped: o.Reaped, TimersFired: o.TimersFired, RunsCreated: o.RunsCreated,
		JoinsRepaired: o.JoinsRepaired, LeaseAcquired: o.LeaseAcquired, LeaseEnded: o.LeaseEnded,
	}
	if o.Attempted != nil {
		w.Attempted = func(some []worker.Attempt) { o.Attempted(attempts(some)) }
	}
	p.components.Observe(&w)
}

func attempts(some []worker.Attempt) []Attempt {
	all := make([]Attempt, len(some))
	for i, a := range some {
		m, _ := a.Body.(*outbox.Message)
		all[i] = Attempt{Message: m, Outcome: Outcome(a.Outcome.String()), Waited: a.Waited, Began: a.Began, Took: a.Took}
	}
	return all
}
