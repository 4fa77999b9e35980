package worker

import (
	"context"
	"time"
)

// Observer is notified of what happens in this process, for metrics. Functions that are
// nil are not called. The others are called by many goroutines at once, those of a loop
// between one claim and the next: they must be quick, and not panic.
type Observer struct {
	// Enqueued reports that n messages of a topic were written. In a transaction of the
	// caller's they are there once that commits.
	Enqueued func(queue, topic string, n int)
	// Claimed reports that a claim returned n messages.
	Claimed func(queue string, n int)
	// Attempted reports attempts that ended and whose outcome is in the database: a loop
	// reports after each transaction in which it settles some. What a loop that stops
	// could not settle in time it reports as OutcomeLost, and so what the database did not take
	// because another owner had it by then. The slice must not be kept.
	Attempted func([]Attempt)
	// Reaped reports that n messages of an expired lease are ready again.
	Reaped func(queue string, n int64)
	// TimersFired reports that n timers were dispatched.
	TimersFired func(n int64)
	// RunsCreated reports that n runs of jobs were created.
	RunsCreated func(n int64)
	// JoinsRepaired reports how many joins the clean-up repaired, and how many waits it
	// woke. Either is a bug in pawl, or somebody changed a table by hand.
	JoinsRepaired func(joins, waits int64)
	// LeaseAcquired reports that a lease begins in this process.
	LeaseAcquired func(name string, token int64)
	// LeaseEnded reports that it ended; lost: not by Close.
	LeaseEnded func(name string, lost bool)
	// Step reports that a step of a flow runs. It runs in the context that Step returns; the function
	// that it returns reports once what became of it, when that is in the database, and with which
	// error it failed.
	Step func(ctx context.Context, s Step) (context.Context, func(outcome string, err error))
}

// Step is a step of a flow: of the function, or one that undoes another.
type Step struct {
	Topic, Name string
	Attempt     int
}

// The outcomes of steps, beside the words for stored ones: "done", "failed" and "timed out".
const (
	StepRetried   = "retried"   // it is not stored, and runs again
	StepCancelled = "cancelled" // it is not stored, and its flow is cancelled
)

// Attempt is one handling of an item, and what became of it.
type Attempt struct {
	Queue, Topic string
	Outcome      Outcome
	// Retry is how many attempts failed before.
	Retry int
	// Waited is how long it was claimable before it was handled, by this process's clock
	// against the database's; 0 unless this is the first attempt.
	Waited time.Duration
	// Began is when the handler started, by this process's clock, and Took how long it
	// ran; zero if it did not start.
	Began time.Time
	Took  time.Duration
	// Scheduled is true for items that had a due time.
	Scheduled bool
	// Created and Since are when the item was enqueued and when it became claimable, by the
	// database's clock.
	Created, Since time.Time
	// Error is what the handler returned, as it is kept with the item; empty: no error.
	Error string
	// Body is the item's, an *outbox.Message.
	Body any
}

// Outcome is what became of an attempt.
type Outcome int

// The outcomes. All but the first two leave the item for another attempt.
const (
	OutcomeAcked     Outcome = iota // handled, and its ack is committed
	OutcomeFailed                   // failed for good
	OutcomeRetried                  // failed, to be tried again
	OutcomeSnoozed                  // put off by its handler
	OutcomeUnhandled                // put back: no handler here
	OutcomePaused                   // put back: its topic or queue is paused
	OutcomeReleased                 // put back: this worker stops, or the lease was running out
	OutcomeLost                     // its lease was lost, and the database may not have its outcome
	OutcomeSettled                  // settled by its handler, in a transaction of its own
	OutcomeExpired                  // ended without an attempt: it was too late for one
	OutcomeCancelled                // ended while it ran or was claimed: somebody cancelled it
)

// String returns the outcome as one lower-case word.
func (o Outcome) String() string {
	words := []string{"acked", "failed", "retried", "snoozed", "unhandled", "paused", "released", "lost", "settled", "expired", "cancelled"}
	if o < 0 || int(o) >= len(words) {
		return "unknown"
	}
	return words[o]
}

// claimed counts the items of a claim.
func (l *Loop[M]) claimed(n int) {
	l.stats.claimed(n)
	if n > 0 {
		l.cfg.Observers.claimed(l.cfg.Name, n)
	}
}

// next records the result of a task and waits for the next one. Observers are notified by
// the main cycle, many attempts at once: with a call for each from 64 workers on 2
// cores, the workers contended for the counters, which took 0.5 µs a message instead
// of 0.15 (BenchmarkAttempted of package metrics).
func (l *Loop[M]) next(t *task[M], r result) (next task[M], ok bool) {
	r.frees = l.cfg.Limited != nil && l.cfg.Limited(t.item.Topic)
	if !l.cfg.Observers.attempts() {
		next, _, ok = l.inflight.next(t.release(), r, nil)
		return next, ok
	}
	a := l.attempt(t, r)
	next, wanted, ok := l.inflight.next(t.release(), r, &a)
	if !wanted { // it will not be collected either
		a.Outcome = OutcomeReleased
		l.cfg.Observers.attempted([]Attempt{a})
	}
	return next, ok
}

// attempt returns a task's attempt, for observers.
func (l *Loop[M]) attempt(t *task[M], r result) Attempt {
	a := Attempt{Queue: l.cfg.Name, Topic: t.item.Topic, Outcome: r.reported, Retry: t.item.Retry, Scheduled: t.item.Scheduled,
		Created: t.item.Created, Since: t.item.Since, Error: r.text, Body: t.item.Body}
	if !t.started.IsZero() {
		a.Began, a.Took = t.started, time.Since(t.started)
		if t.item.Retry == 0 && !t.item.Since.IsZero() {
			a.Waited = max(t.started.Sub(t.item.Since), 0)
		}
	}
	return a
}

// notifyObservers reports attempts, after the exchange with the database: a slow observer
// delays the next claim, but not what is finished.
func (l *Loop[M]) notifyObservers() {
	if !l.cfg.Observers.attempts() {
		return
	}
	if l.attempts = l.inflight.pendingAttempts(l.attempts); len(l.attempts) > 0 {
		l.cfg.Observers.attempted(l.attempts)
	}
	clear(l.attempts) // free their bodies
	l.attempts = l.attempts[:0]
}

// Observers are notified one after the other.
type Observers []*Observer

// Each calls f with each observer.
func (all Observers) Each(f func(o *Observer)) {
	for _, o := range all {
		f(o)
	}
}

func (all Observers) claimed(queue string, n int) {
	for _, o := range all {
		if o.Claimed != nil {
			o.Claimed(queue, n)
		}
	}
}

// attempts reports whether anybody observes attempts.
func (all Observers) attempts() bool {
	for _, o := range all {
		if o.Attempted != nil {
			return true
		}
	}
	return false
}

func (all Observers) attempted(some []Attempt) {
	for _, o := range all {
		if o.Attempted != nil {
			o.Attempted(some)
		}
	}
}

func (all Observers) reaped(queue string, n int64) {
	for _, o := range all {
		if o.Reaped != nil {
			o.Reaped(queue, n)
		}
	}
}

// Step notifies of a step. It returns the context in which it is to run, and what has to be called at its end.
func (all Observers) Step(ctx context.Context, s Step) (context.Context, func(outcome string, err error)) {
	var ends []func(outcome string, err error)
	for _, o := range all {
		if o.Step != nil {
			var end func(outcome string, err error)
			ctx, end = o.Step(ctx, s)
			ends = append(ends, end)
		}
	}
	return ctx, func(outcome string, err error) {
		for _, end := range ends {
			end(outcome, err)
		}
	}
}
