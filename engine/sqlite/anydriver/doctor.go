package anydriver

import "github.com/bravellian/pawl/engine"

// The operations of the doctor that SQLite cannot say in one statement.

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

// recount: args 0 join. Sets its counters to what its members say, and ends it if
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
	if err != nil {
		return err
	}
	return answer(c, n)
}

// settleMissed: args 0 join, 1 positions, 2 message ids. Counts what became of
// the messages in the join.
func settleMissed(t *txn, c *engine.Call) error {
	return countSettled(t, arg[[16]byte](c, 0), arg[[][16]byte](c, 2))
}

// wakeOver: args 0 joins. Makes the waits of those that are over due at once.
func wakeOver(t *txn, c *engine.Call) error {
	for _, join := range arg[[][16]byte](c, 0) {
		if err := wakeWaits(t, join); err != nil {
			return err
		}
	}
	return nil
}
