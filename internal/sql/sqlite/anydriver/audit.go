package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

type auditPut struct {
	engine.Changes
	ID     [16]byte
	Actor  string
	Action string
	Target string
	Reason *string
	N      int64
}

func recordAct(t *txn, o op.AuditNote) (int64, error) { return o.N, t.audit(o.Note, o.Action, o.N) }

// audit adds n to the entry of an action. Nothing is recorded where nothing changed.
func (t *txn) audit(by op.Note, action string, n int64) error {
	if n == 0 || by.ID == nil {
		return nil
	}
	return t.do(auditPut{ID: *by.ID, Actor: by.Actor, Action: action, Target: by.Target, Reason: by.Reason, N: n})
}

// changeAudited runs a statement and records how many rows it changed.
func (t *txn) changeAudited(by op.Note, action string, statement engine.Operation) (int64, error) {
	n, err := t.change(statement)
	if err != nil {
		return 0, err
	}
	return n, t.audit(by, action, n)
}
