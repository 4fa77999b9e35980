package worker

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

// D-443, D-315: of a settlement that the database took in part, those attempts are reported as lost that
// it did not take, and no others, and only those that it took are counted.
func TestMissedAttemptsAreLost(t *testing.T) {
	t.Parallel()
	owner, other := Tag(0).NewOwnerToken(), Tag(0).NewOwnerToken()
	l := &inflight[int]{}
	for _, o := range []uuid.UUID{owner, other} {
		c := &claim[int]{owner: o, items: []Item[int]{{ID: 1}, {ID: 2}, {ID: 3}}}
		l.settling = append(l.settling, settlingClaim[int]{c, []result{{index: 2}, {index: 0}, {index: 1}}, []Attempt{{Outcome: OutcomeAcked}, {Outcome: OutcomeFailed}, {Outcome: OutcomeSettled}}})
	}
	missed := map[Held]struct{}{{owner, 3}: {}, {other, 1}: {}}
	l.markMissed(missed)
	var got []Outcome
	for _, f := range l.settling {
		for _, a := range f.attempts {
			got = append(got, a.Outcome)
		}
	}
	if want := []Outcome{OutcomeLost, OutcomeFailed, OutcomeSettled, OutcomeAcked, OutcomeLost, OutcomeSettled}; !slices.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
	s := &Stats{}
	s.settled(&Settlement{Acks: []Held{{owner, 3}, {other, 3}}, Failures: []Failure{{Held: Held{owner, 1}}, {Held: Held{other, 1}}}, Missed: missed}, time.Now())
	if acks, failures := s.acks.Load(), s.failures.Load(); acks != 1 || failures != 1 {
		t.Errorf("counted %d acks and %d failures", acks, failures)
	}
}
