package sqlite

import (
	"encoding/json"
	"math"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/engine"
)

// The operations of the outbox that SQLite cannot say in one statement. All
// run under the write lock, so what they read cannot move before they write.

// run is consecutive ids lo … lo+n−1 and where they came from.
type run struct {
	lo, n, lane, at, retry, until int64
}

func (r run) end() int64 { return r.lo + r.n }

// arg returns the i-th argument of a call. A wrong type is a mistake in the
// component that made the call and panics.
func arg[T any](c *engine.Call, i int) T { return c.Args[i].(T) }

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
			return err
		}
	}
	lanes, times, lo, n := arg[[]int64](c, 9), arg[[]*time.Time](c, 10), arg[[]int64](c, 11), arg[[]int64](c, 12)
	for i := range lo {
		at := t.now
		if times[i] != nil {
			at = times[i].UnixMicro()
		}
		if _, err := t.exec("outbox/ready_insert", lanes[i], at, lo[i], n[i], 0); err != nil {
			return err
		}
	}
	c.N = int64(len(ids))
	return nil
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
		if _, err := t.exec("outbox/ready_insert", lanes[i], at, id, 1, 0); err != nil {
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
	args := make([]any, 0, 11)
	args = append(args, id, arg[[][16]byte](c, 1)[i], supplied, arg[[]int64](c, 6)[i], arg[[]string](c, 2)[i],
		text(arg[[]*string](c, 3), i), text(arg[[]*string](c, 4), i), body(arg[[][]byte](c, 5)[i]))
	if dues := arg[[]*time.Time](c, 7); dues != nil {
		args = append(args, dues[i])
	} else {
		args = append(args, nil)
	}
	res, err := t.exec(statement, append(args, more...)...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
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

// claim: args 0 queue, 1 owner, 2 lease, 3 how many. Rows: id, message id,
// topic, correlation id, headers, payload, created, due, retry, queue,
// priority, locked until.
func claim(t *txn, c *engine.Call) error {
	queue, need := arg[string](c, 0), int64(arg[int](c, 3))
	type lane struct{ id, priority int64 }
	var lanes []lane
	err := t.query("outbox/claim_lanes", func(r engine.Row) error {
		var l lane
		defer func() { lanes = append(lanes, l) }()
		return r.Scan(&l.id, &l.priority)
	}, queue)
	if err != nil {
		return err
	}
	until := t.now + arg[time.Duration](c, 2).Microseconds()
	for _, l := range lanes {
		runs, err := claimLane(t, l.id, need, arg[[16]byte](c, 1), until)
		if err != nil {
			return err
		}
		for _, r := range runs {
			if err := t.query("outbox/claim_messages", c.Each, r.lo, r.end(), r.retry, queue, l.priority, until); err != nil {
				return err
			}
			need -= r.n
		}
		if need <= 0 {
			break
		}
	}
	return nil
}

// claimLane moves up to need messages of a lane from ready to claim.
func claimLane(t *txn, lane, need int64, owner [16]byte, until int64) ([]run, error) {
	picked, err := pick(t, lane, need)
	if err != nil || len(picked) == 0 {
		return nil, err
	}
	last := &picked[len(picked)-1]
	if _, err := t.exec("outbox/claim_cut", lane, last.at, last.lo); err != nil {
		return nil, err
	}
	var total int64
	for _, r := range picked {
		total += r.n
	}
	if over := total - need; over > 0 {
		last.n -= over
		if _, err := t.exec("outbox/ready_insert", lane, last.at, last.end(), over, last.retry); err != nil {
			return nil, err
		}
	}
	runs := merge(picked)
	for _, r := range runs {
		if _, err := t.exec("outbox/claim_insert", r.lo, r.n, lane, r.at, r.retry, owner, until); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// pick reads due runs of a lane, oldest first, until they hold need messages.
func pick(t *txn, lane, need int64) ([]run, error) {
	var picked []run
	err := t.query("outbox/claim_pick", func(row engine.Row) error {
		r := run{lane: lane}
		if err := row.Scan(&r.at, &r.lo, &r.n, &r.retry); err != nil {
			return err
		}
		picked = append(picked, r)
		if need -= r.n; need <= 0 {
			return errStop
		}
		return nil
	}, lane)
	return picked, err
}

// merge joins runs that follow each other and were tried equally often.
func merge(runs []run) []run {
	out := runs[:0:0]
	for _, r := range runs {
		if k := len(out) - 1; k >= 0 && out[k].end() == r.lo && out[k].retry == r.retry && out[k].lane == r.lane {
			out[k].n += r.n
			out[k].at = min(out[k].at, r.at)
			continue
		}
		out = append(out, r)
	}
	return out
}

// take removes ids lo … lo+n−1 from what owner has claimed, leaving the rest
// of the runs they lay in, and returns exactly what it removed.
func take(t *txn, owner [16]byte, lo, n int64) ([]run, error) {
	var found []run
	err := t.query("outbox/take_find", func(row engine.Row) error {
		var r run
		defer func() { found = append(found, r) }()
		return row.Scan(&r.lo, &r.n, &r.lane, &r.at, &r.retry, &r.until)
	}, lo, lo+n, owner)
	if err != nil {
		return nil, err
	}
	for i, r := range found {
		if _, err := t.exec("outbox/take_delete", r.lo); err != nil {
			return nil, err
		}
		cut := r
		cut.lo = max(r.lo, lo)
		cut.n = min(r.end(), lo+n) - cut.lo
		if err := putBack(t, r, r.lo, cut.lo, owner); err != nil {
			return nil, err
		}
		if err := putBack(t, r, cut.end(), r.end(), owner); err != nil {
			return nil, err
		}
		found[i] = cut
	}
	return found, nil
}

// putBack leaves the part from … to of a claimed run under its lease.
func putBack(t *txn, r run, from, to int64, owner [16]byte) error {
	if from >= to {
		return nil
	}
	_, err := t.exec("outbox/claim_insert", from, to-from, r.lane, r.at, r.retry, owner, r.until)
	return err
}

// settle takes every requested run (args 0 owners, 1 first ids, 2 lengths) and
// gives what was taken to put; the call answers how many messages that were.
func settle(t *txn, c *engine.Call, put func(i int, owner [16]byte, taken []run) error) error {
	owners, lo, n := arg[[][16]byte](c, 0), arg[[]int64](c, 1), arg[[]int64](c, 2)
	var total int64
	for i := range lo {
		taken, err := take(t, owners[i], lo[i], n[i])
		if err != nil {
			return err
		}
		for _, r := range taken {
			total += r.n
		}
		if err := put(i, owners[i], taken); err != nil {
			return err
		}
	}
	return answer(c, total)
}

// ack: args 3 processed by.
func ack(t *txn, c *engine.Call) error {
	return settle(t, c, func(_ int, owner [16]byte, taken []run) error {
		for i := range taken {
			taken[i].retry = 0 // done runs merge whatever their history
		}
		for _, r := range merge(taken) {
			if _, err := t.exec("outbox/done_insert", r.lo, r.n, owner, c.Args[3]); err != nil {
				return err
			}
		}
		return nil
	})
}

// retryLimit keeps 2^n seconds below the cap of a minute without overflow.
const retryLimit = 6

// backoff is the delay after so many retries (D-14), for callers that give none.
func backoff(retry int64) int64 {
	seconds := math.Min(math.Pow(2, float64(min(retry, retryLimit))), 60)
	return int64(seconds) * time.Second.Microseconds()
}

// abandon: args 3 delays (nil: backoff), 4 errors.
func abandon(t *txn, c *engine.Call) error {
	delays, errs := arg[[]*time.Duration](c, 3), arg[[]*string](c, 4)
	return settle(t, c, func(i int, _ [16]byte, taken []run) error {
		for _, r := range taken {
			at := t.now + backoff(r.retry)
			if delays[i] != nil {
				at = t.now + delays[i].Microseconds()
			}
			if err := retryLater(t, r, at, text(errs, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// retryLater lays a run back into ready with one more attempt on its account.
func retryLater(t *txn, r run, at int64, reason any) error {
	for id := r.lo; id < r.end(); id++ {
		if _, err := t.exec("outbox/exception_upsert", id, 0, r.retry+1, at, reason); err != nil {
			return err
		}
	}
	_, err := t.exec("outbox/ready_insert", r.lane, at, r.lo, r.n, r.retry+1)
	return err
}

const statusFailed = 3

// fail: args 3 errors.
func fail(t *txn, c *engine.Call) error {
	errs := arg[[]*string](c, 3)
	return settle(t, c, func(i int, _ [16]byte, taken []run) error {
		for _, r := range taken {
			for id := r.lo; id < r.end(); id++ {
				if _, err := t.exec("outbox/exception_upsert", id, statusFailed, r.retry, nil, text(errs, i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// release: args 3 delays. Counts no attempt.
func release(t *txn, c *engine.Call) error {
	delays := arg[[]time.Duration](c, 3)
	return settle(t, c, func(i int, _ [16]byte, taken []run) error {
		for _, r := range taken {
			at := r.at
			if delays[i] > 0 {
				at = t.now + delays[i].Microseconds()
			}
			if _, err := t.exec("outbox/ready_insert", r.lane, at, r.lo, r.n, r.retry); err != nil {
				return err
			}
		}
		return nil
	})
}

// extend: args 3 lease. Only the ids asked for live longer.
func extend(t *txn, c *engine.Call) error {
	until := t.now + arg[time.Duration](c, 3).Microseconds()
	return settle(t, c, func(_ int, owner [16]byte, taken []run) error {
		for _, r := range taken {
			r.until = until
			if err := putBack(t, r, r.lo, r.end(), owner); err != nil {
				return err
			}
		}
		return nil
	})
}

// reap: args 0 how many runs at most. Answers how many messages came back.
func reap(t *txn, c *engine.Call) error {
	var expired []run
	err := t.query("outbox/reap_find", func(row engine.Row) error {
		var r run
		defer func() { expired = append(expired, r) }()
		return row.Scan(&r.lo, &r.n, &r.lane, &r.at, &r.retry, &r.until)
	}, c.Args[0])
	if err != nil {
		return err
	}
	var total int64
	for _, r := range expired {
		if _, err := t.exec("outbox/take_delete", r.lo); err != nil {
			return err
		}
		if err := retryLater(t, r, t.now, "lease expired"); err != nil {
			return err
		}
		total += r.n
	}
	return answer(c, total)
}

// dead finds failed messages (args 0 ids or nil, 1 topic or nil, 2 how many)
// and calls do for each; the call answers how many there were.
func dead(t *txn, c *engine.Call, do func(id, lane int64) error) error {
	var ids any
	if list := arg[[]int64](c, 0); list != nil {
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		ids = string(text)
	}
	var found [][2]int64
	err := t.query("outbox/dead_find", func(row engine.Row) error {
		var id, lane int64
		defer func() { found = append(found, [2]int64{id, lane}) }()
		return row.Scan(&id, &lane)
	}, ids, text([]*string{arg[*string](c, 1)}, 0), c.Args[2])
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := do(f[0], f[1]); err != nil {
			return err
		}
	}
	return answer(c, int64(len(found)))
}

func redrive(t *txn, c *engine.Call) error {
	return dead(t, c, func(id, lane int64) error {
		if _, err := t.exec("outbox/redrive_one", id); err != nil {
			return err
		}
		_, err := t.exec("outbox/ready_insert", lane, t.now, id, 1, 0)
		return err
	})
}

func discard(t *txn, c *engine.Call) error {
	return dead(t, c, func(id, _ int64) error {
		_, err := t.exec("outbox/discard_one", id)
		return err
	})
}

// purge: args 0 age, 1 how many runs to look at. Answers how many messages went.
func purge(t *txn, c *engine.Call) error {
	before := t.now - arg[time.Duration](c, 0).Microseconds()
	done, err := old(t, "outbox/purge_done", before, c.Args[1])
	if err != nil {
		return err
	}
	given, err := old(t, "outbox/purge_dead", before, c.Args[1])
	if err != nil {
		return err
	}
	var total int64
	for _, r := range append(done, given...) {
		for _, statement := range []string{"outbox/purge_messages", "outbox/purge_exceptions"} {
			if _, err := t.exec(statement, r.lo, r.end()); err != nil {
				return err
			}
		}
		total += r.n
	}
	for _, r := range done {
		if _, err := t.exec("outbox/purge_run", r.lo); err != nil {
			return err
		}
	}
	return answer(c, total)
}

func old(t *txn, statement string, before int64, look any) ([]run, error) {
	var runs []run
	err := t.query(statement, func(row engine.Row) error {
		var r run
		defer func() { runs = append(runs, r) }()
		return row.Scan(&r.lo, &r.n)
	}, before, look)
	return runs, err
}
