package anydriver

import "github.com/bravellian/pawl/engine"

// The operations of the doctor that SQLite cannot say in one statement.

// doctorOperation returns what answers an operation of the doctor in Go; nil for a
// single statement.
func doctorOperation(name string) opFunc {
	switch name {
	case "adopt":
		return adoptNoted
	}
	return nil
}

// noteFix notes n things that the doctor mended; the operation's last args are the note.
func noteFix(t *txn, c *engine.Call, n int64) error {
	return note(t, c.Args[len(c.Args)-auditArgs:], "fix", n)
}

// adoptNoted: args are those of a note. Makes lanes known that runs lie in and nobody
// knows, and answers how many.
func adoptNoted(t *txn, c *engine.Call) error {
	n, err := adoptLanes(t, nil)
	if err == nil {
		err = noteFix(t, c, n)
	}
	if err != nil {
		return err
	}
	return answer(c, n)
}
