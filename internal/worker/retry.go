package worker

import (
	"cmp"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// RetryPolicy defines how often and when an item is tried again.
type RetryPolicy struct {
	// MaxAttempts is the number of executions in all; 0 = no limit.
	MaxAttempts int
	// Delay returns the delay after so many failures, 1 for the first; nil = engine.Backoff.
	Delay func(failures int) time.Duration
	// Jitter varies each delay by ± this share, 0 … 1.
	Jitter float64
}

// Validate returns an error that names the first invalid field.
func (p RetryPolicy) Validate() error {
	return cmp.Or(engine.CheckOption("MaxAttempts", p.MaxAttempts, 1, 0), engine.CheckOption("Jitter", p.Jitter, 0, 1))
}

// DefaultRetryPolicy tries ten times in all, with engine.Backoff ± 10 %.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxAttempts: 10, Jitter: 0.1}
}

// Exhausted reports whether no attempt is left after so many failures.
func (p RetryPolicy) Exhausted(failures int) bool {
	return p.MaxAttempts > 0 && failures >= p.MaxAttempts
}

// Limit returns the error of an attempt after so many failures, as a permanent one if p allows no
// attempt after it. It is for handlers whose own policy has no limit.
func (p RetryPolicy) Limit(err error, failures int) error {
	if p.Exhausted(failures + 1) {
		return Permanent(err)
	}
	return err
}

// Wait returns the delay after so many failures, with jitter, never negative.
func (p RetryPolicy) Wait(failures int) time.Duration {
	return bounded(engine.Jitter(p.delay(failures), min(max(p.Jitter, 0), 1)))
}

func (p RetryPolicy) delay(failures int) time.Duration {
	if p.Delay != nil {
		return p.Delay(failures)
	}
	return engine.Backoff(failures)
}

// periodDelays is how many delays of a policy are added up: those that follow are taken to be
// as long as the last of them.
const periodDelays = 1000

// Within reports whether an item that has been claimable for so long would have attempts left if
// every one had failed at once.
func (p RetryPolicy) Within(age time.Duration) bool {
	if p.MaxAttempts <= 0 {
		return true
	}
	delays := p.MaxAttempts - 1
	var sum, last float64 // the sum may be more than a Duration holds
	for i := range min(delays, periodDelays) {
		last = float64(max(0, p.delay(i+1)))
		sum += last
	}
	return float64(age) < sum+float64(max(0, delays-periodDelays))*last
}
