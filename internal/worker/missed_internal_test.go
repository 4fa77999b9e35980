package worker

import (
	"slices"
	"testing"
	"time"
)

// D-315: of a settlement that the database took in part, those attempts are reported as lost
// whose lease had run out; all of them where these are too few to explain it.
func TestMissedAreThoseWhoseLeaseRanOut(t *testing.T) {
	t.Parallel()
	for missed, want := range map[int][]Outcome{
		0: {OutcomeAcked, OutcomeFailed, OutcomeSettled},
		1: {OutcomeLost, OutcomeFailed, OutcomeSettled},
		2: {OutcomeLost, OutcomeLost, OutcomeSettled},
	} {
		now := time.Now()
		l := &inflight[int]{}
		for i, a := range [][]Attempt{{{Outcome: OutcomeAcked}}, {{Outcome: OutcomeFailed}, {Outcome: OutcomeSettled}}} {
			c := &claim[int]{deadline: now.Add(time.Duration(2*i-1) * time.Hour)}
			l.settling = append(l.settling, settlingClaim[int]{c, make([]result, len(a)), a})
		}
		l.markMissed(missed)
		var got []Outcome
		for _, f := range l.settling {
			for _, a := range f.attempts {
				got = append(got, a.Outcome)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d missed: outcomes %v, want %v", missed, got, want)
		}
	}
}
