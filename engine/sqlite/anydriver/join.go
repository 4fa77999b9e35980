package anydriver

import (
	"encoding/binary"

	"github.com/bravellian/pawl/engine"
)

// The operations of joins that SQLite cannot say in one statement. What runs in
// a caller's transaction sees nothing but rows affected.

// joinOperation returns what answers an operation of joins in Go; nil for a
// single statement.
func joinOperation(name string) opFunc {
	switch name {
	case "attach":
		return attach
	case "attach_new":
		return attachNew
	case "report":
		return report
	case "end":
		return end
	case "cancel":
		return cancelJoin
	case "park":
		return park
	case "purge":
		return purgeJoins
	}
	return nil
}

const (
	stepCompleted = 1
	stepFailed    = 2
)

// countSteps counts what became of messages in their joins. A program without
// joins pays for one probe of an index a call (4 µs, see bench/README.md).
func countSteps(t *txn, status int64, settled []run) error {
	if len(settled) == 0 {
		return nil
	}
	lo, end := settled[0].Lo, settled[0].end()
	for _, r := range settled[1:] {
		lo, end = min(lo, r.Lo), max(end, r.end())
	}
	awaited := false
	err := t.query("join/awaited", func(engine.Row) error { awaited = true; return nil }, lo, end)
	if err != nil || !awaited {
		return err
	}
	for _, r := range settled {
		if err := countRun(t, status, r); err != nil {
			return err
		}
	}
	return nil
}

func countRun(t *txn, status int64, r run) error {
	joins, err := pendingJoins(t, r.Lo, r.end())
	if err != nil {
		return err
	}
	for _, join := range joins {
		n, err := affected(t, "join/steps", join, r.Lo, r.end(), status)
		if err != nil {
			return err
		}
		if err := addSteps(t, join, status, n); err != nil {
			return err
		}
	}
	return nil
}

func pendingJoins(t *txn, lo, end int64) (joins [][16]byte, err error) {
	err = t.query("join/pending", func(r engine.Row) error {
		var join [16]byte
		err := r.Scan(&join)
		joins = append(joins, join)
		return err
	}, lo, end)
	return joins, err
}

// addSteps adds to a join's counters and, if that ends it, wakes its waits.
func addSteps(t *txn, join [16]byte, status, n int64) error {
	if n == 0 {
		return nil
	}
	completed, failed := n, int64(0)
	if status == stepFailed {
		completed, failed = 0, n
	}
	if _, err := t.exec("join/add", join, completed, failed); err != nil {
		return err
	}
	return wakeWaits(t, join)
}

func wakeWaits(t *txn, join [16]byte) error {
	woken, err := affected(t, "join/wake", join)
	t.woke = t.woke || woken > 0
	return err
}

// carried is the position that an id which pawl made carries.
func carried(id [16]byte) int64 {
	return int64(binary.BigEndian.Uint64(id[8:]) & (1<<48 - 1))
}

// attach: args 0 join, 1 message ids. N: 0 attached, 1 unknown join, 1 + i the
// i-th message is unknown; then nothing was attached. Runs in a caller's transaction.
func attach(t *txn, c *engine.Call) error {
	join, messages := arg[[16]byte](c, 0), arg[[][16]byte](c, 1)
	if known, err := affected(t, "join/known", join); err != nil || known == 0 {
		c.N = 1
		return err
	}
	var added [][16]byte
	for i, message := range messages {
		n, err := affected(t, "join/attach_one", join, message, carried(message))
		if err != nil {
			return err
		}
		if n > 0 {
			added = append(added, message)
			continue
		}
		if n, err = affected(t, "join/member", join, message); err != nil {
			return err
		}
		if n == 0 {
			c.N = int64(2 + i)
			return detach(t, join, added)
		}
	}
	return countSettled(t, join, added)
}

func detach(t *txn, join [16]byte, messages [][16]byte) error {
	for _, message := range messages {
		if _, err := t.exec("join/detach_one", join, message); err != nil {
			return err
		}
	}
	return nil
}

// countSettled counts new members whose messages are settled already (D-31).
func countSettled(t *txn, join [16]byte, messages [][16]byte) error {
	for _, message := range messages {
		for _, status := range []int64{stepCompleted, stepFailed} {
			n, err := affected(t, "join/step_settled", join, message, status)
			if err != nil {
				return err
			}
			if err := addSteps(t, join, status, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// attachNew: args 0 join, 1 positions, 2 message ids. Runs in a caller's transaction.
func attachNew(t *txn, c *engine.Call) error {
	positions, messages := arg[[]int64](c, 1), arg[[][16]byte](c, 2)
	for i, message := range messages {
		if _, err := t.exec("join/attach_new_one", c.Args[0], message, positions[i]); err != nil {
			return err
		}
	}
	c.N = int64(len(messages))
	return nil
}

// report: args 0 join, 1 message id, 2 status. N: 0 unknown join, 1 counted,
// 2 was counted before or the join is over, 3 no member. Runs in a caller's transaction.
func report(t *txn, c *engine.Call) error {
	join, status := arg[[16]byte](c, 0), int64(arg[int](c, 2))
	if known, err := affected(t, "join/known", join); err != nil || known == 0 {
		return err
	}
	n, err := affected(t, "join/step", join, c.Args[1], status)
	if err != nil {
		return err
	}
	if n > 0 {
		c.N = 1
		return addSteps(t, join, status, n)
	}
	member, err := affected(t, "join/member", join, c.Args[1])
	c.N = 3 - member
	return err
}

// end: args 0 join, 1 status. N: 0 unknown, 1 ended, 2 not. Runs in a caller's transaction.
func end(t *txn, c *engine.Call) error { return endJoin(t, c, c.Args[1]) }

// cancelJoin: args 0 join, and those of a note. N as of end. Runs in a caller's
// transaction.
func cancelJoin(t *txn, c *engine.Call) error {
	if err := endJoin(t, c, joinCancelled); err != nil || c.N != 1 {
		return err
	}
	return note(t, c.Args[1:], "cancel", 1)
}

// joinCancelled is the status of a join that was cancelled.
const joinCancelled = 3

func endJoin(t *txn, c *engine.Call, status any) error {
	join := arg[[16]byte](c, 0)
	n, err := affected(t, "join/end_one", join, status)
	if err != nil {
		return err
	}
	if n > 0 {
		c.N = 1
		return wakeWaits(t, join)
	}
	known, err := affected(t, "join/known", join)
	c.N = 2 * known
	return err
}

// park: args 0 join, 1 owner, 2 position. Answers how many were put aside: 0 if
// the lease is lost. A join that ended meanwhile has the wait due at once.
func park(t *txn, c *engine.Call) error {
	join, id := arg[[16]byte](c, 0), arg[int64](c, 2)
	taken, err := take(t, arg[[16]byte](c, 1), id, 1)
	if err != nil {
		return err
	}
	if len(taken) == 0 {
		return answer(c, 0)
	}
	at := t.now
	t.woke = true
	err = t.query("join/pending_until", func(r engine.Row) error {
		t.woke = false
		return r.Scan(&at)
	}, join)
	if err != nil {
		return err
	}
	if _, err := t.exec("join/wait", join, id); err != nil {
		return err
	}
	wait := taken[0]
	wait.At, wait.Suspect = at, 0
	if err := toReady(t, wait); err != nil {
		return err
	}
	return answer(c, 1)
}

// reopen takes a redriven message's failures back in pending joins (D-38).
func reopen(t *txn, id int64) error {
	for _, statement := range []string{"join/reopen", "join/reopen_members"} {
		if _, err := t.exec(statement, id); err != nil {
			return err
		}
	}
	return nil
}

// purgeJoins: args 0 age, 1 how many joins of each outcome to look at. Answers
// how many went.
func purgeJoins(t *txn, c *engine.Call) error {
	before := t.now - micros(c, 0)
	var old [][16]byte
	for outcome := int64(1); outcome <= 3; outcome++ {
		err := t.query("join/purge_find", func(r engine.Row) error {
			var join [16]byte
			err := r.Scan(&join)
			old = append(old, join)
			return err
		}, before, c.Args[1], outcome)
		if err != nil {
			return err
		}
	}
	for _, join := range old {
		for _, statement := range []string{"join/purge_members", "join/purge_waits", "join/purge_join"} {
			if _, err := t.exec(statement, join); err != nil {
				return err
			}
		}
	}
	return answer(c, int64(len(old)))
}
