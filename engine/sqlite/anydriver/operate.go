package anydriver

import (
	"errors"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/op"
)

// What operators do: pauses, and taking back or moving messages that nobody has
// claimed. Each leaves a note in the audit trail.

// auditOperation returns what answers an operation of the audit in Go.
func auditOperation(name string) opFunc {
	switch name {
	case "note":
		return func(t *txn, c *engine.Call) error {
			n := arg[int64](c, 5)
			if err := note(t, []any{c.Args[0], c.Args[1], c.Args[3], c.Args[4]}, arg[string](c, 2), n); err != nil {
				return err
			}
			return answer(c, n)
		}
	case "purge":
		return func(t *txn, c *engine.Call) error {
			n, err := affected(t, "audit/purge_count", t.now-micros(c, 0), c.Args[1])
			if err != nil {
				return err
			}
			return answer(c, n)
		}
	}
	return nil
}

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
	if args[1] == nil {
		return errors.New("a note without an actor")
	}
	reason, _ := args[3].(*string)
	return t.note(op.Note{ID: &id, Actor: args[1].(string), Target: args[2].(string), Reason: reason}, action, n)
}

// mendOperation returns what answers an operation in Go by which operators mend an
// outbox.
func mendOperation(name string) opFunc {
	switch name {
	case "park":
		return layAside
	case "cancel":
		return cancel
	case "reschedule":
		return reschedule
	case "redrive":
		return redrive
	case "discard":
		return discard
	case "count_dead":
		return countDead
	}
	return nil
}

// pauseOperation returns what answers an operation on pauses in Go.
func pauseOperation(name string) opFunc {
	switch name {
	case "put":
		return putPause
	case "end":
		return endPause
	case "unpark":
		return unpark
	}
	return nil
}

// putPause: args 0 kind, 1 name, 2 lane, 3 reason; of the audit: 4 id, 5 actor, 6
// target, 7 reason. Answers 1, or 0 if it was paused before.
func putPause(t *txn, c *engine.Call) error {
	n, err := affected(t, "pause/put_one", c.Args[0], c.Args[1], c.Args[2], c.Args[3], c.Args[5])
	if err != nil {
		return err
	}
	return noted(t, c, "pause", c.Args[4:], n)
}

// endPause: args 0 kind, 1 name; of the audit: 2 id, 3 actor, 4 target, 5 reason.
func endPause(t *txn, c *engine.Call) error {
	var total int64
	for _, statement := range []string{"pause/end_topic", "pause/end_queue"} {
		n, err := affected(t, statement, c.Args[0], c.Args[1])
		if err != nil {
			return err
		}
		total += n
	}
	t.woke = true
	return noted(t, c, "resume", c.Args[2:], total)
}

// unpark: args 0 topic, 1 how many runs. Answers how many came back; the pause is
// forgotten when none do.
func unpark(t *txn, c *engine.Call) error {
	n, err := affected(t, "pause/unpark_runs", c.Args[0], c.Args[1])
	if err != nil {
		return err
	}
	if n == 0 {
		_, err = t.exec("pause/forget", c.Args[0])
	}
	if err != nil {
		return err
	}
	t.woke = true
	return answer(c, n)
}

// layAside: args 3 topics. What is paused no more goes back to where it was.
func layAside(t *txn, c *engine.Call) error {
	topics := arg[[]string](c, 3)
	lanes := map[string]*int64{}
	return settle(t, c, func(i int, _ [16]byte, taken []run) error {
		lane, known := lanes[topics[i]]
		if !known {
			err := t.query("pause/lane", func(r engine.Row) error { return r.Scan(&lane) }, topics[i])
			if err != nil {
				return err
			}
			lanes[topics[i]] = lane
		}
		for _, r := range taken {
			if lane != nil {
				r.lane = *lane
			}
			if err := toReady(t, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// cancel: args 0 ids, 1 why; of the audit: 2 id, 3 actor, 4 target, 5 reason.
func cancel(t *txn, c *engine.Call) error {
	taken, err := withdraw(t, arg[[]int64](c, 0), false)
	if err != nil {
		return err
	}
	for _, r := range taken {
		if _, err := t.exec("outbox/exception_upsert", r.lo, statusDiscarded, r.retry, nil, c.Args[1]); err != nil {
			return err
		}
	}
	if err := countSteps(t, stepFailed, taken); err != nil {
		return err
	}
	return noted(t, c, "cancel", c.Args[2:], int64(len(taken)))
}

// reschedule: args 0 ids, 1 when, nil for now; of the audit: 2 id, 3 actor, 4 target, 5 reason.
func reschedule(t *txn, c *engine.Call) error {
	at := t.now
	if due := arg[*time.Time](c, 1); due != nil {
		at = due.UnixMicro()
	}
	taken, err := withdraw(t, arg[[]int64](c, 0), false)
	if err != nil {
		return err
	}
	for _, r := range taken {
		r.at = at
		if err := toReady(t, r); err != nil {
			return err
		}
		if _, err := t.exec("outbox/reschedule_exception", r.lo, at); err != nil {
			return err
		}
	}
	t.woke = true
	return noted(t, c, "reschedule", c.Args[2:], int64(len(taken)))
}

// noted answers with n, and notes it.
func noted(t *txn, c *engine.Call, action string, audit []any, n int64) error {
	if err := note(t, audit, action, n); err != nil {
		return err
	}
	return answer(c, n)
}
