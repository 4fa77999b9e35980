package pawl

import (
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/worker"
)

// D-712: what the worker reports of an attempt is one of the constants.
func TestOutcomes(t *testing.T) {
	var reported []Outcome
	for o := worker.Outcome(0); o.String() != worker.Outcome(-1).String(); o++ {
		reported = append(reported, attempts([]worker.Attempt{{Outcome: o}})[0].Outcome)
	}
	constants := []Outcome{
		OutcomeAcked, OutcomeFailed, OutcomeSettled, OutcomeExpired, OutcomeCancelled, OutcomeRetried, OutcomeSnoozed, OutcomeUnhandled, OutcomePaused, OutcomeReleased, OutcomeLost,
	}
	slices.Sort(reported)
	slices.Sort(constants)
	if !slices.Equal(reported, constants) {
		t.Errorf("the worker reports %v, the constants are %v", reported, constants)
	}
}
