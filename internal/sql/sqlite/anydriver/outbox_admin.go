package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Operators' actions on messages. Each is recorded in the audit trail.

// outboxRescheduleException records the next attempt of a message that failed before.
type outboxRescheduleException struct {
	engine.Changes
	ID, At int64
}

func cancel(t *txn, o op.OutboxCancel) (int64, error) {
	taken, err := discardWaiting(t, o.IDs, o.Reason)
	if err != nil {
		return 0, err
	}
	n := int64(len(taken))
	return n, t.audit(o.Note, "cancel", n)
}

// discardWaiting takes messages out of ready and discards them, also as steps of their joins. It
// returns them, a run of one each.
func discardWaiting(t *txn, ids []int64, reason string) ([]run, error) {
	taken, err := withdraw(t, ids, false)
	if err != nil {
		return nil, err
	}
	if err := endMessages(t, taken, statusDiscarded, op.Reported{Error: &reason}); err != nil {
		return nil, err
	}
	if err := next(t, taken); err != nil {
		return nil, err
	}
	return taken, countSteps(t, stepFailed, taken)
}

func reschedule(t *txn, o op.OutboxReschedule) (int64, error) {
	n, err := moveDue(t, o.IDs, t.at(o.Due))
	if err != nil {
		return 0, err
	}
	return n, t.audit(o.Note, "reschedule", n)
}

// moveDue makes messages that are in ready due at another time, and returns how many.
func moveDue(t *txn, ids []int64, at int64) (int64, error) {
	taken, err := withdraw(t, ids, false)
	if err != nil {
		return 0, err
	}
	for _, r := range taken {
		r.At = at
		if err := t.do(outboxReadyInsert{run: r}, outboxRescheduleException{ID: r.Lo, At: at}); err != nil {
			return 0, err
		}
	}
	t.woke = true
	return int64(len(taken)), nil
}
