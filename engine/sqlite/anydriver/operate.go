package anydriver

import (
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/op"
)

// What operators do: pauses, and taking back or moving messages that nobody has
// claimed. Each leaves a note in the audit trail.

// auditArgs is how many parameters a note takes, which are an operation's last.
const auditArgs = 4

// doNoted answers with how many rows a statement changed, and leaves a note if it
// changed any.
func doNoted(t *txn, c *engine.Call, statement, action string, args ...any) (err error) {
	if c.N, err = affected(t, statement, args...); err != nil {
		return err
	}
	return note(t, c.Args[len(c.Args)-auditArgs:], action, c.N)
}

// note puts n on the account of an operation: args 0 id, 1 actor, 2 target, 3 reason.
// Without an id nothing is noted.
func note(t *txn, args []any, action string, n int64) error {
	if n == 0 || args[0] == nil {
		return nil
	}
	id := args[0].([16]byte)
	reason, _ := args[3].(*string)
	return t.note(op.Note{ID: &id, Actor: args[1].(string), Target: args[2].(string), Reason: reason}, action, n)
}
