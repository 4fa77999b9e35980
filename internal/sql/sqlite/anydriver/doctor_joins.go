package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

func recountJoin(t *txn, o op.DoctorJoinRecount) (int64, error) {
	_, pending, err := one(t, joinPendingUntil{JoinID: o.JoinID})
	if err != nil {
		return 0, err
	}
	n, err := t.changeAudited(o.Note, "fix", o)
	if err == nil && n > 0 && pending {
		err = wakeWaits(t, o.JoinID) // if it has ended
	}
	return n, err
}

func settleMissed(t *txn, o op.DoctorJoinSettle) (int64, error) {
	messages := engine.Mapped(o.Missed, func(m *op.DoctorMissed) [16]byte { return m.OutboxMessageID })
	if err := countSettled(t, o.JoinID, messages); err != nil {
		return 0, err
	}
	return 1, t.audit(o.Note, "fix", 1)
}

func wakeOver(t *txn, o op.DoctorJoinWake) (int64, error) {
	for _, join := range o.JoinIDs {
		if err := wakeWaits(t, join); err != nil {
			return 0, err
		}
	}
	n := int64(len(o.JoinIDs))
	return n, t.audit(o.Note, "fix", n)
}
