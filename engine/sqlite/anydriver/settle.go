package anydriver

import (
	"math"
	"time"

	"github.com/bravellian/pawl/engine"
)

// Settling claimed runs: whatever happens to them, only their owner can make it
// happen, and what is put somewhere is exactly what was taken.

// take removes ids lo … lo+n−1 from what owner has claimed, leaving the rest
// of the runs they lay in, and returns exactly what it removed.
func take(t *txn, owner [16]byte, lo, n int64) ([]run, error) {
	var found []run
	err := t.query("outbox/take_find", func(row engine.Row) error {
		var r run
		defer func() { found = append(found, r) }()
		return row.Scan(&r.lo, &r.n, &r.lane, &r.at, &r.retry, &r.until, &r.suspect)
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
	r.lo, r.n = from, to-from
	return toClaim(t, r, owner)
}

// toClaim puts a run under lease.
func toClaim(t *txn, r run, owner any) error {
	_, err := t.exec("outbox/claim_insert", r.lo, r.n, r.lane, r.at, r.retry, owner, r.until, r.suspect)
	return err
}

// toReady puts a run into ready.
func toReady(t *txn, r run) error {
	_, err := t.exec("outbox/ready_insert", r.lane, r.at, r.lo, r.n, r.retry, r.suspect)
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

// ack: args 3 processed by. Failed runs (args 4 and 5) were counted by fail:
// under the write lock the order of locks does not matter.
func ack(t *txn, c *engine.Call) error {
	var settled []run
	err := settle(t, c, func(_ int, owner [16]byte, taken []run) error {
		for i := range taken {
			taken[i].retry, taken[i].suspect = 0, 0 // done runs merge whatever their history
		}
		merged := merge(taken)
		for _, r := range merged {
			if _, err := t.exec("outbox/done_insert", r.lo, r.n, owner, c.Args[3]); err != nil {
				return err
			}
		}
		settled = append(settled, merged...)
		return nil
	})
	if err != nil {
		return err
	}
	return countSteps(t, stepCompleted, settled)
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
			r.suspect = 0 // its handler came to an end
			if err := retryLater(t, r, at, text(errs, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// retryLater puts a run back into ready with one more attempt on its account.
func retryLater(t *txn, r run, at int64, reason any) error {
	for id := r.lo; id < r.end(); id++ {
		if _, err := t.exec("outbox/exception_upsert", id, 0, r.retry+1, at, reason); err != nil {
			return err
		}
	}
	r.at, r.retry = at, r.retry+1
	return toReady(t, r)
}

// States of messages that are over without being done.
const (
	statusFailed    = 3
	statusDiscarded = 4
)

// fail: args 3 errors.
func fail(t *txn, c *engine.Call) error {
	errs := arg[[]*string](c, 3)
	var settled []run
	err := settle(t, c, func(i int, _ [16]byte, taken []run) error {
		settled = append(settled, taken...)
		for _, r := range taken {
			for id := r.lo; id < r.end(); id++ {
				if _, err := t.exec("outbox/exception_upsert", id, statusFailed, r.retry, nil, text(errs, i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return countSteps(t, stepFailed, settled)
}

// release: args 3 delays, 4 whether suspects stay so: nobody began them. Counts no
// attempt.
func release(t *txn, c *engine.Call) error {
	delays, keep := arg[[]time.Duration](c, 3), arg[[]bool](c, 4)
	return settle(t, c, func(i int, _ [16]byte, taken []run) error {
		for _, r := range taken {
			if delays[i] > 0 {
				r.at = t.now + delays[i].Microseconds()
			}
			if !keep[i] {
				r.suspect = 0
			}
			if err := toReady(t, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// extend: args 3 lease. Only the ids asked for live longer.
func extend(t *txn, c *engine.Call) error {
	until := t.now + micros(c, 3)
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
		return row.Scan(&r.lo, &r.n, &r.lane, &r.at, &r.retry, &r.until, &r.suspect)
	}, c.Args[0])
	if err != nil {
		return err
	}
	var total int64
	for _, r := range expired {
		if _, err := t.exec("outbox/take_delete", r.lo); err != nil {
			return err
		}
		if err := suspectAgain(t, r); err != nil {
			return err
		}
		total += r.n
	}
	return answer(c, total)
}
