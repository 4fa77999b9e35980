package anydriver

import (
	"errors"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/engine"
)

// The operations of the outbox that SQLite cannot say in one statement. All
// run under the write lock, so what they read cannot move before they write.

// outboxOperation returns what answers an operation of the outbox in Go; nil for
// a single statement.
func outboxOperation(name string) opFunc {
	switch name {
	case "reserve":
		return reserve
	case "enqueue", "enqueue_once":
		return enqueue
	case "claim":
		return claim
	case "claim_suspects":
		return claimSuspects
	case "claim_any":
		return claimAny
	case "suspects":
		return suspects
	case "ack":
		return ack
	case "abandon":
		return abandon
	case "fail":
		return fail
	case "release":
		return release
	case "extend":
		return extend
	case "reap":
		return reap
	case "adopt":
		return adopt
	case "purge":
		return purge
	}
	return mendOperation(name)
}

// run is consecutive ids lo … lo+n−1 and where they came from. suspect is as in
// the tables (see suspect.go).
type run struct {
	lo, n, lane, at, retry, until, suspect int64
}

func (r run) end() int64 { return r.lo + r.n }

// arg returns the i-th argument of a call. A wrong type is a mistake in the
// component that made the call and panics.
func arg[T any](c *engine.Call, i int) T { return c.Args[i].(T) }

// micros returns the i-th argument, a duration.
func micros(c *engine.Call, i int) int64 { return arg[time.Duration](c, i).Microseconds() }

// counted answers a call with a number.
type counted int64

func (n counted) Scan(dest ...any) error { return assignInt(dest[0], int64(n)) }

func answer(c *engine.Call, n int64) error { return c.Each(counted(n)) }

// reserve: args 0 how many. Answers the last id reserved.
func reserve(t *txn, c *engine.Call) error {
	res, err := t.exec("outbox/reserve", c.Args[0])
	if err != nil {
		return err
	}
	last, err := res.LastInsertId()
	if err != nil {
		return err
	}
	return answer(c, last)
}

// enqueue: args 0 ids, 1 message ids, 2 topics, 3 correlation ids, 4 headers,
// 5 payloads, 6 lanes, 7 due times, 8 queues, and either the runs (9 lanes,
// 10 times, 11 first ids, 12 lengths) or, where ids were supplied, 9 supplied
// and 10 positions. N counts the new messages. Runs in a caller's transaction.
func enqueue(t *txn, c *engine.Call) error {
	ids := arg[[]int64](c, 0)
	if len(c.Args) == 11 {
		return enqueueOnce(t, c, ids)
	}
	for i, id := range ids {
		if _, err := insertMessage(t, c, i, "outbox/enqueue_message", id, false); err != nil {
			return takeBack(t, ids[:i], err)
		}
	}
	lanes, times, lo, n := arg[[]int64](c, 9), arg[[]*time.Time](c, 10), arg[[]int64](c, 11), arg[[]int64](c, 12)
	for i := range lo {
		at := t.now
		if times[i] != nil {
			at = times[i].UnixMicro()
		}
		if _, err := t.exec("outbox/ready_insert", lanes[i], at, lo[i], n[i], 0, 0); err != nil {
			return err
		}
	}
	c.N = int64(len(ids))
	return nil
}

// takeBack undoes what an enqueue has put into a caller's transaction, which may yet
// be committed: all of it is stored or nothing. Transactions of our own are rolled back.
func takeBack(t *txn, ids []int64, err error) error {
	if _, ok := t.run.(foreign); !ok {
		return err
	}
	for _, id := range ids {
		if _, undo := t.exec("outbox/forget_message", id); undo != nil {
			return errors.Join(err, undo)
		}
	}
	return err
}

func enqueueOnce(t *txn, c *engine.Call, ids []int64) error {
	lanes, dues := arg[[]int64](c, 6), arg[[]*time.Time](c, 7)
	supplied, positions := arg[[]bool](c, 9), arg[[]int64](c, 10)
	for i, id := range ids {
		mark := supplied[i]
		if id == positions[i] {
			// Made in a transaction that may have been rolled back: that took the
			// reservation back as well, so the position may be another's by now.
			var err error
			if id, err = nextID(t); err != nil {
				return err
			}
			mark = true
		}
		n, err := insertMessage(t, c, i, "outbox/enqueue_message_once", id, mark, positions[i])
		if errors.Is(classify(err), engine.ErrPosition) { // another message's: this one goes elsewhere, found by its mark
			if id, err = nextID(t); err == nil {
				n, err = insertMessage(t, c, i, "outbox/enqueue_message_once", id, true, positions[i])
			}
		}
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		at := t.now
		if dues != nil && dues[i] != nil {
			at = dues[i].UnixMicro()
		}
		if _, err := t.exec("outbox/ready_insert", lanes[i], at, id, 1, 0, 0); err != nil {
			return err
		}
		c.N++
	}
	return nil
}

// nextID reserves one id within the transaction.
func nextID(t *txn) (int64, error) {
	res, err := t.exec("outbox/reserve", 1)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// insertMessage inserts the i-th message; more are arguments of the statement
// after the usual ones.
func insertMessage(t *txn, c *engine.Call, i int, statement string, id int64, supplied bool, more ...any) (int64, error) {
	args := messageColumns(c, i, id, supplied)
	return affected(t, statement, append(args, more...)...)
}

// messageColumns are the i-th message's arguments of a statement that inserts it.
func messageColumns(c *engine.Call, i int, id int64, supplied bool) []any {
	args := make([]any, 0, 11)
	args = append(args, id, arg[[][16]byte](c, 1)[i], supplied, arg[[]int64](c, 6)[i], arg[[]string](c, 2)[i],
		text(arg[[]*string](c, 3), i), text(arg[[]*string](c, 4), i), body(arg[[][]byte](c, 5)[i]))
	if dues := arg[[]*time.Time](c, 7); dues != nil {
		return append(args, dues[i])
	}
	return append(args, nil)
}

func text(texts []*string, i int) any {
	if texts == nil || texts[i] == nil {
		return nil
	}
	return *texts[i]
}

// body stores payloads as text where they are text, so that SQL can read them.
func body(payload []byte) any {
	if payload == nil {
		return ""
	}
	if !utf8.Valid(payload) {
		return payload
	}
	for _, b := range payload {
		if b == 0 { // SQLite's text functions stop at a NUL
			return payload
		}
	}
	return string(payload)
}
