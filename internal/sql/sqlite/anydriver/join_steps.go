package anydriver

import "github.com/bravellian/pawl/internal/engine"

// How joins count the outcomes of their members.

type (
	// joinAwaited tests whether any join waits for messages at positions.
	joinAwaited struct {
		engine.Number
		Lo  int64
		End int64 // exclusive
	}
	// joinPending reads the pending joins with pending members at positions.
	joinPending struct {
		engine.Rows[joinID]
		Lo  int64
		End int64 // exclusive
	}
	// joinSteps counts the pending members of a pending join at positions, up to the number
	// that it still expects.
	joinSteps struct {
		engine.Changes
		JoinID [16]byte
		Lo     int64
		End    int64 // exclusive
		Status int64
	}
	// joinStepSettled counts a member whose message is settled already.
	joinStepSettled struct {
		engine.Changes
		member
		Status int64
	}
	joinAdd struct {
		engine.Changes
		JoinID    [16]byte
		Completed int64
		Failed    int64
	}
	joinWake          byJoin
	joinReopen        byID
	joinReopenMembers byID
)

const (
	stepCompleted = 1
	stepFailed    = 2
)

// countSteps counts the outcomes of messages in their joins. A program without joins pays for
// one index probe per call (4 µs, see bench/README.md).
func countSteps(t *txn, status int64, settled []run) error {
	if len(settled) == 0 {
		return nil
	}
	lo, end := settled[0].Lo, settled[0].end()
	for _, r := range settled[1:] {
		lo, end = min(lo, r.Lo), max(end, r.end())
	}
	awaited := false
	err := t.ask(joinAwaited{Lo: lo, End: end}, func(engine.Row) error { awaited = true; return nil })
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
	joins, err := rows(t, joinPending{Lo: r.Lo, End: r.end()})
	if err != nil {
		return err
	}
	for _, join := range joins {
		n, err := t.change(joinSteps{JoinID: join.JoinID, Lo: r.Lo, End: r.end(), Status: status})
		if err != nil {
			return err
		}
		if err := addSteps(t, join.JoinID, status, n); err != nil {
			return err
		}
	}
	return nil
}

// addSteps adds to a join's counters and, if that ends it, makes its waits due.
func addSteps(t *txn, join [16]byte, status, n int64) error {
	if n == 0 {
		return nil
	}
	completed, failed := n, int64(0)
	if status == stepFailed {
		completed, failed = 0, n
	}
	if err := t.do(joinAdd{JoinID: join, Completed: completed, Failed: failed}); err != nil {
		return err
	}
	return wakeWaits(t, join)
}

// wakeWaits makes the waits of a join due at once if it has ended, whatever their due time
// is (D-33).
func wakeWaits(t *txn, join [16]byte) error {
	woken, err := t.change(joinWake{JoinID: join})
	t.woke = t.woke || woken > 0
	return err
}

// countSettled counts new members whose messages are settled already (D-31).
func countSettled(t *txn, join [16]byte, messages [][16]byte) error {
	for _, message := range messages {
		for _, status := range []int64{stepCompleted, stepFailed} {
			n, err := t.change(joinStepSettled{member: member{join, message}, Status: status})
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
