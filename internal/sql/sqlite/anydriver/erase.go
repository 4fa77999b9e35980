package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

type (
	outboxEraseFailed      byID
	outboxEraseMessage     byID
	outboxEraseJoinResults byID
	outboxEraseUnique      byID
)

// outboxEraseError replaces the last error of a message.
type outboxEraseError struct {
	engine.Changes
	ID     int64
	Reason string
}

func erase(t *txn, o op.OutboxErase) (n int64, err error) {
	if _, err := discardWaiting(t, o.IDs, o.Reason); err != nil {
		return 0, err
	}
	for _, id := range o.IDs {
		erased, err := eraseOne(t, id, o.Reason)
		if err != nil {
			return 0, err
		}
		n += erased
	}
	return n, t.audit(o.Note, "erase", n)
}

// eraseOne erases a message that has ended.
func eraseOne(t *txn, id int64, reason string) (n int64, err error) {
	failed, err := t.change(outboxEraseFailed{ID: id})
	if err == nil && failed > 0 {
		err = next(t, []run{{Lo: id, N: 1}})
	}
	if err == nil {
		n, err = t.change(outboxEraseMessage{ID: id})
	}
	if err != nil || n == 0 {
		return 0, err
	}
	return n, t.do(
		outboxEraseError{ID: id, Reason: reason}, outboxPurgeAttempts{Lo: id, End: id + 1}, outboxPurgeResults{Lo: id, End: id + 1}, outboxEraseJoinResults{ID: id},
		flowPurgeStep{Lo: id, End: id + 1}, flowPurgeSignal{Lo: id, End: id + 1}, flowPurgeWait{Lo: id, End: id + 1}, outboxEraseUnique{ID: id},
	)
}
