package anydriver

import (
	"cmp"
	"errors"
	"slices"

	"github.com/bravellian/pawl/engine"
)

// The operations of timers that SQLite cannot say in one statement.

// timerOperation returns what answers an operation of timers in Go; nil for a
// single statement.
func timerOperation(name string) opFunc {
	switch name {
	case "schedule":
		return scheduleTimers
	case "cancel", "cancel_key":
		return noting("timer/"+name, "cancel")
	case "reschedule":
		return noting("timer/reschedule", "reschedule")
	case "dispatch":
		return dispatchTimers
	case "claim":
		return claimTimers
	case "ack":
		return ackTimers
	case "fail":
		return failTimers
	case "abandon":
		return abandonTimers
	case "reap":
		return reapTimers
	case "purge":
		return purgeTimers
	}
	return nil
}

// scheduleTimers: args 0 positions, 1 ids, 2 topics, 3 correlation ids,
// 4 headers, 5 payloads, 6 lanes, 7 due times, 8 supplied, 9 carried positions,
// 10 keys. Runs in a caller's transaction.
func scheduleTimers(t *txn, c *engine.Call) error {
	positions, carried := arg[[]int64](c, 0), arg[[]int64](c, 9)
	keys := arg[[]*string](c, 10)
	for i, id := range positions {
		mark := arg[[]bool](c, 8)[i]
		if mark || carried[i] != 0 { // an id that was just made is new
			known, err := affected(t, "timer/known", arg[[][16]byte](c, 1)[i], carried[i])
			if err != nil {
				return err
			}
			if known > 0 {
				continue
			}
		}
		if id == carried[i] { // as in enqueueOnce: the position may be another's by now
			var err error
			if id, err = nextID(t); err != nil {
				return err
			}
			mark = true
		}
		key := text(keys, i)
		if err := replaceTimer(t, key); err != nil {
			return err
		}
		_, err := t.exec("timer/insert", append(messageColumns(c, i, id, mark), key)...)
		if errors.Is(classify(err), engine.ErrPosition) { // another timer's: this one goes elsewhere, found by its mark
			if id, err = nextID(t); err == nil {
				_, err = t.exec("timer/insert", append(messageColumns(c, i, id, true), key)...)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceTimer cancels the pending timer of a key, and parts the key from one
// that somebody is firing.
func replaceTimer(t *txn, key any) error {
	if key == nil {
		return nil
	}
	for _, statement := range []string{"timer/cancel_key", "timer/detach_key"} {
		if _, err := t.exec(statement, key); err != nil {
			return err
		}
	}
	return nil
}

// dueTimer is what has to be known of a due timer to move it.
type dueTimer struct {
	run
	known bool // the outbox has its message
	taken bool // another message has its position
}

func dueTimers(t *txn, n any) (due []dueTimer, err error) {
	err = t.query("timer/due", func(r engine.Row) error {
		d := dueTimer{run: run{N: 1}}
		defer func() { due = append(due, d) }()
		return r.Scan(&d.Lo, &d.Lane, &d.At, &d.known, &d.taken)
	}, n)
	return due, err
}

// dispatchTimers: args 0 how many. Moves due timers into the outbox, neighbours
// as one run, and answers how many.
func dispatchTimers(t *txn, c *engine.Call) error {
	due, err := dueTimers(t, c.Args[0])
	if err != nil {
		return err
	}
	if moved, err := movePositions(t, due); err != nil {
		return err
	} else if moved {
		return dispatchTimers(t, c)
	}
	if len(due) > 0 {
		for _, statement := range []string{"timer/dispatch_messages", "timer/dispatch_over"} {
			if _, err := t.exec(statement, len(due)); err != nil {
				return err
			}
		}
		for _, r := range neighbours(due) {
			if err := toReady(t, run{Lane: r.Lane, At: t.now, Lo: r.Lo, N: r.N}); err != nil {
				return err
			}
		}
		t.woke = true
	}
	return answer(c, int64(len(due)))
}

// movePositions gives timers a position of their own whose position another message
// has: ids were given out twice, as after a copy of the file was put back.
func movePositions(t *txn, due []dueTimer) (moved bool, err error) {
	for _, d := range due {
		if !d.taken {
			continue
		}
		to, err := nextID(t)
		if err != nil {
			return moved, err
		}
		if _, err := t.exec("timer/move_position", d.Lo, to); err != nil {
			return moved, err
		}
		moved = true
	}
	return moved, nil
}

// neighbours are the runs that new messages form.
func neighbours(due []dueTimer) []run {
	runs := make([]run, 0, len(due))
	for _, d := range due {
		if !d.known {
			runs = append(runs, d.run)
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.Lo, b.Lo) })
	return merge(runs)
}

// claimTimers: args 0 owner, 1 lease, 2 how many. Rows: as timer/get.
func claimTimers(t *txn, c *engine.Call) error {
	ids, err := suspectsOf(t, "timer/suspects", arg[int](c, 2))
	if err != nil {
		return err
	}
	suspects := len(ids)
	if suspects == 0 {
		if ids, err = positions(t, "timer/claimable", c.Args[2]); err != nil || len(ids) == 0 {
			return err
		}
	}
	if _, err := t.exec("timer/claim_rows", ids, c.Args[0], t.now+micros(c, 1), suspects); err != nil {
		return err
	}
	return t.query("timer/claimed", c.Each, c.Args[0], ids)
}

// ackTimers: args 0 owner, 1 ids. Answers how many it held.
func ackTimers(t *txn, c *engine.Call) error {
	return eachTimer(t, c, func(id [16]byte) (int64, error) { return affected(t, "timer/ack_one", c.Args[0], id) })
}

// failTimers: args 0 owner, 1 ids, 2 error. Answers how many it held.
func failTimers(t *txn, c *engine.Call) error {
	return eachTimer(t, c, func(id [16]byte) (int64, error) { return affected(t, "timer/fail_one", c.Args[0], id, c.Args[2]) })
}

// abandonTimers: args 0 owner, 1 ids, 2 delay (nil: backoff), 3 error. Answers
// how many it held.
func abandonTimers(t *txn, c *engine.Call) error {
	t.woke = true
	return eachTimer(t, c, func(id [16]byte) (int64, error) {
		return affected(t, "timer/abandon_one", c.Args[0], id, c.Args[2], c.Args[3])
	})
}

// eachTimer calls do for each of the ids in argument 1 and answers the sum.
func eachTimer(t *txn, c *engine.Call, do func(id [16]byte) (int64, error)) error {
	var total int64
	for _, id := range arg[[][16]byte](c, 1) {
		n, err := do(id)
		if err != nil {
			return err
		}
		total += n
	}
	return answer(c, total)
}

// reapTimers puts back what was claimed and whose lease has run out, and answers
// how many.
func reapTimers(t *txn, c *engine.Call) error {
	n, err := affected(t, "timer/reap_rows", firstSuspects)
	if err != nil {
		return err
	}
	t.woke = t.woke || n > 0
	return answer(c, n)
}

// purgeTimers: args 0 age, 1 how many at most. Answers how many went.
func purgeTimers(t *txn, c *engine.Call) error {
	n, err := affected(t, "timer/purge_rows", t.now-micros(c, 0), c.Args[1])
	if err != nil {
		return err
	}
	return answer(c, n)
}
