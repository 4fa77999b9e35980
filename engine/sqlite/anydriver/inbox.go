package anydriver

import (
	"time"

	"github.com/bravellian/pawl/engine"
)

// The operations of the inbox that SQLite cannot say in one statement. What runs
// in a caller's transaction sees nothing but rows affected.

// inboxOperation returns what answers an operation of the inbox in Go; nil for a
// single statement.
func inboxOperation(name string) opFunc {
	switch name {
	case "see":
		return see
	case "take":
		return takeMessage
	case "extend":
		return extendAttempt
	case "fail":
		return failAttempt
	case "purge":
		return purgeInbox
	case "revive":
		return reviveMessage
	}
	return nil
}

// The verdicts of see, and what take adds to them.
const (
	seenNew        = 0
	seenTaken      = 1
	seenDone       = 2
	seenDead       = 3
	seenMismatch   = 4
	seenInProgress = 5
)

// see: args 0 source, 1 message id, 2 hash. N is the verdict. Runs in a caller's
// transaction.
func see(t *txn, c *engine.Call) (err error) {
	c.N, err = delivered(t, c.Args[0], c.Args[1], c.Args[2], nil)
	return err
}

// delivered notes a delivery and says whether the message may be processed.
func delivered(t *txn, source, message, hash, token any) (verdict int64, err error) {
	if _, err := t.exec("inbox/delivery", source, message, hash); err != nil {
		return 0, err
	}
	for _, q := range []struct {
		statement string
		arg       any
		verdict   int64
	}{
		{"inbox/mismatch", hash, seenMismatch}, {"inbox/has_status", "Done", seenDone}, {"inbox/has_status", "Dead", seenDead},
		{"inbox/in_progress", token, seenInProgress},
	} {
		n, err := affected(t, q.statement, source, message, q.arg)
		if err != nil || n > 0 {
			return q.verdict, err
		}
	}
	return seenNew, nil
}

// takeMessage: args 0 source, 1 message id, 2 hash, 3 token, 4 lease or nil, 5
// most attempts, 6 whether an attempt that did not end is not counted again. N: 1 taken, otherwise the verdict. Runs in a caller's transaction.
func takeMessage(t *txn, c *engine.Call) (err error) {
	source, message := c.Args[0], c.Args[1]
	if c.N, err = delivered(t, source, message, c.Args[2], c.Args[3]); err != nil || c.N != seenNew {
		return err
	}
	c.N = seenTaken
	lease := arg[*time.Duration](c, 4)
	if lease == nil {
		return nil // the write lock holds it
	}
	n, err := affected(t, "inbox/lease", source, message, c.Args[3], t.now+lease.Microseconds(), c.Args[5], c.Args[6])
	if err != nil || n > 0 {
		return err
	}
	c.N = seenDead
	_, err = t.exec("inbox/kill", source, message)
	return err
}

// extendAttempt: args 0 source, 1 message id, 2 token, 3 lease.
func extendAttempt(t *txn, c *engine.Call) (err error) {
	c.N, err = affected(t, "inbox/extend_until", c.Args[0], c.Args[1], c.Args[2], t.now+micros(c, 3))
	return err
}

// failAttempt: args 0 source, 1 message id, 2 hash, 3 token or nil, 4 error, 5
// for good, 6 most attempts. N: 0 not the caller's, 1 may be tried again, 2 dead.
func failAttempt(t *txn, c *engine.Call) error {
	source, message, token := c.Args[0], c.Args[1], arg[*[16]byte](c, 3)
	if token == nil { // the delivery was rolled back with its transaction
		verdict, err := delivered(t, source, message, c.Args[2], nil)
		if err != nil || verdict != seenNew {
			return err
		}
	}
	n, err := affected(t, "inbox/failed", source, message, token, c.Args[4], c.Args[5], c.Args[6])
	if err != nil || n == 0 {
		return err
	}
	dead, err := affected(t, "inbox/has_status", source, message, "Dead")
	c.N = 1 + dead
	return err
}

// purgeInbox: args 0 age, 1 how many at most. Answers how many went.
func purgeInbox(t *txn, c *engine.Call) error {
	n, err := affected(t, "inbox/purge_count", t.now-micros(c, 0), c.Args[1])
	if err != nil {
		return err
	}
	return answer(c, n)
}

// reviveMessage: args 0 source, 1 message id, 2 id in the queue, and those of a note.
// N is 1 if it was dead; then the queue's message has a fresh start, too.
func reviveMessage(t *txn, c *engine.Call) error {
	if err := doNoted(t, c, "inbox/revive_one", "revive", c.Args[0], c.Args[1]); err != nil || c.N == 0 {
		return err
	}
	var id, lane int64
	err := t.query("inbox/failed_in_queue", func(r engine.Row) error { return r.Scan(&id, &lane) }, c.Args[2])
	if err != nil || id == 0 {
		return err
	}
	t.woke = true
	return redriveOne(t, id, lane)
}
