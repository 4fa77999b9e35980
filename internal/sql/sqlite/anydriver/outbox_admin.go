package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Operators' actions on messages. Each is recorded in the audit trail.

// outboxAdmin adds the operations with which operators repair an outbox.
func (a answers) outboxAdmin() {
	counting(a, cancel)
	counting(a, reschedule)
	listing(a, redrive)
	listing(a, discard)
	listing(a, countDead)
}

// outboxRescheduleException records the next attempt of a message that failed before.
type outboxRescheduleException struct {
	engine.Changes
	ID, At int64
}

func cancel(t *txn, o op.OutboxCancel) (int64, error) {
	taken, err := withdraw(t, o.IDs, false)
	if err != nil {
		return 0, err
	}
	if err := endMessages(t, taken, statusDiscarded, &o.Reason); err != nil {
		return 0, err
	}
	if err := next(t, taken); err != nil {
		return 0, err
	}
	if err := countSteps(t, stepFailed, taken); err != nil {
		return 0, err
	}
	n := int64(len(taken))
	return n, t.audit(o.Note, "cancel", n)
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
	return n, t.audit(o.Note, "reschedule", n)
}
