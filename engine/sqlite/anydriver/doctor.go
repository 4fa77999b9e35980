package anydriver

import (
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/op"
)

// The operations of the doctor that SQLite cannot say in one statement.

// doctor adds what answers an operation of the doctor.
func (a answers) doctor() { counting(a, adoptNoted) }

// doctorStatements are the statements of the doctor that only SQLite has.
func doctorStatements() []engine.Operation { return []engine.Operation{doctorObjects{}} }

// doctorOperation returns what answers an operation of the doctor in Go; nil for a
// single statement.
func doctorOperation(name string) opFunc {
	switch name {
	case "join_recount":
		return recount
	case "join_settle":
		return settleMissed
	case "join_wake":
		return wakeOver
	}
	return nil
}

// noteFix notes n things that the doctor mended; the operation's last args are the note.
func noteFix(t *txn, c *engine.Call, n int64) error {
	return note(t, c.Args[len(c.Args)-auditArgs:], "fix", n)
}

// recount: args 0 join, and those of a note. Sets its counters to what its members say, and ends it if
// that was the last step. Answers how many joins changed: 0 also where the members
// are more than the steps.
func recount(t *txn, c *engine.Call) error {
	join, pending := arg[[16]byte](c, 0), false
	if err := t.query("join/pending_until", func(engine.Row) error { pending = true; return nil }, join); err != nil {
		return err
	}
	n, err := affected(t, "doctor/recount", join)
	if err == nil && n > 0 && pending {
		err = wakeWaits(t, join) // if it is over
	}
	if err == nil {
		err = noteFix(t, c, n)
	}
	if err != nil {
		return err
	}
	return answer(c, n)
}

// settleMissed: args 0 join, 1 positions, 2 message ids, and those of a note. Counts
// what became of the messages in the join.
func settleMissed(t *txn, c *engine.Call) error {
	if err := countSettled(t, arg[[16]byte](c, 0), arg[[][16]byte](c, 2)); err != nil {
		return err
	}
	return noteFix(t, c, 1)
}

func adoptNoted(t *txn, o op.DoctorAdopt) (int64, error) {
	n, err := adoptLanes(t, nil)
	if err != nil {
		return 0, err
	}
	return n, t.note(o.Note, "fix", n)
}

// wakeOver: args 0 joins, and those of a note. Makes the waits of those that are over
// due at once.
func wakeOver(t *txn, c *engine.Call) error {
	for _, join := range arg[[][16]byte](c, 0) {
		if err := wakeWaits(t, join); err != nil {
			return err
		}
	}
	return noteFix(t, c, int64(len(arg[[][16]byte](c, 0))))
}
