package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// What operators do to messages. Each leaves a note in the audit trail.

// mends adds what answers an operation by which operators mend an outbox.
func (a answers) mends() {
	counting(a, cancel)
	counting(a, reschedule)
	listing(a, redrive)
	listing(a, discard)
	listing(a, countDead)
}

// outboxRescheduleException notes when a message is tried again that failed before.
type outboxRescheduleException struct {
	engine.Changes
	ID, At int64
}

func cancel(t *txn, o op.OutboxCancel) (int64, error) {
	taken, err := withdraw(t, o.IDs, false)
	if err != nil {
		return 0, err
	}
	if err := over(t, taken, statusDiscarded, &o.Reason); err != nil {
		return 0, err
	}
	if err := countSteps(t, stepFailed, taken); err != nil {
		return 0, err
	}
	n := int64(len(taken))
	return n, t.note(o.Note, "cancel", n)
}

func reschedule(t *txn, o op.OutboxReschedule) (int64, error) {
	at := t.at(o.Due)
	taken, err := withdraw(t, o.IDs, false)
	if err != nil {
		return 0, err
	}
	for _, r := range taken {
		r.At = at
		if err := toReady(t, r); err != nil {
			return 0, err
		}
		if _, err := t.do(outboxRescheduleException{ID: r.Lo, At: at}); err != nil {
			return 0, err
		}
	}
	t.woke = true
	n := int64(len(taken))
	return n, t.note(o.Note, "reschedule", n)
}
