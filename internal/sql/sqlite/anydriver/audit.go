package anydriver

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// audit adds what answers an operation on the audit trail.
func (a answers) audit() {
	counting(a, noteAct)
	counting(a, purgeAudit)
}

// auditStatements are the statements that the audit trail is kept by.
func auditStatements() []engine.Operation {
	return []engine.Operation{auditPurgeCount{}, auditPut{}}
}

type auditPurgeCount struct {
	engine.Changes
	Age  time.Duration
	Most int
}

type auditPut struct {
	engine.Changes
	ID     [16]byte
	Actor  string
	Action string
	Target string
	Reason *string
	N      int64
}

func noteAct(t *txn, o op.AuditNote) (int64, error) { return o.N, t.note(o.Note, o.Action, o.N) }

func purgeAudit(t *txn, o op.AuditPurge) (int64, error) {
	return t.change(auditPurgeCount{Age: o.Age, Most: o.Most})
}

// note puts n on the account of an operation. Nothing is noted where nothing changed.
func (t *txn) note(by op.Note, action string, n int64) error {
	if n == 0 || by.ID == nil {
		return nil
	}
	_, err := t.do(auditPut{ID: *by.ID, Actor: by.Actor, Action: action, Target: by.Target, Reason: by.Reason, N: n})
	return err
}

// noted leaves a note of what a statement changed.
func (t *txn) noted(by op.Note, action string, statement engine.Operation) (int64, error) {
	n, err := t.change(statement)
	if err != nil {
		return 0, err
	}
	return n, t.note(by, action, n)
}
