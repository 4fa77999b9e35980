package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Settling claimed runs: only their owner can settle them, and exactly what was removed from
// the claim is put elsewhere.

// outboxTakeFind reads the claimed runs of an owner that overlap Lo … End (exclusive).
type outboxTakeFind struct {
	engine.Rows[run]
	Lo, End int64
	Owner   [16]byte
}

// outboxTakeDelete deletes a claimed run.
type outboxTakeDelete byLo

// outboxDoneInsert puts a run into done.
type outboxDoneInsert struct {
	engine.Changes
	Lo, N  int64
	Owner  [16]byte
	Worker string
}

// outboxReapDue reports whether any lease has expired.
type outboxReapDue struct{ engine.Rows[existence] }

// outboxReapKept reads which messages of a run are in the table, as runs.
type outboxReapKept struct {
	engine.Rows[span]
	Lo, End int64
}

// outboxReapFind reads runs whose lease has expired.
type outboxReapFind struct {
	engine.Rows[run]
	Most int
}

// outboxAttemptInsert keeps a failed attempt of a message.
type outboxAttemptInsert struct {
	engine.Changes
	ID      int64
	Attempt int64
	Worker  *string
	Error   *string
}

// outboxAttemptTrim deletes all but the last failed attempts of a message.
type outboxAttemptTrim struct {
	engine.Changes
	ID   int64
	Keep int
}

// take removes ids lo … lo+n−1 from what owner has claimed, keeps the rest of their runs
// claimed, and returns exactly what it removed.
func take(t *txn, owner [16]byte, lo, n int64) ([]run, error) {
	found, err := rows(t, outboxTakeFind{Lo: lo, End: lo + n, Owner: owner})
	if err != nil {
		return nil, err
	}
	for i, r := range found {
		if err := t.do(outboxTakeDelete{Lo: r.Lo}); err != nil {
			return nil, err
		}
		cut := r
		cut.Lo = max(r.Lo, lo)
		cut.N = min(r.end(), lo+n) - cut.Lo
		if err := putBack(t, r, r.Lo, cut.Lo, owner); err != nil {
			return nil, err
		}
		if err := putBack(t, r, cut.end(), r.end(), owner); err != nil {
			return nil, err
		}
		found[i] = cut
	}
	return found, nil
}

// putBack keeps the part from … to of a claimed run under its lease.
func putBack(t *txn, r run, from, to int64, owner [16]byte) error {
	if from >= to {
		return nil
	}
	r.Lo, r.N = from, to-from
	return toClaim(t, r, owner)
}

// toClaim puts a run under lease.
func toClaim(t *txn, r run, owner [16]byte) error {
	return t.do(outboxClaimInsert{run: r, Owner: owner})
}

// settle removes every run that is to be settled from the claim and passes it to put. It
// returns the number of messages.
func settle[R interface{ Run() op.Held }](t *txn, runs []R, put func(r *R, taken []run) error) (total int64, err error) {
	for i := range runs {
		held := runs[i].Run()
		taken, err := take(t, held.Owner, held.Lo, int64(held.N))
		if err != nil {
			return 0, err
		}
		for _, r := range taken {
			total += r.N
		}
		if err := put(&runs[i], taken); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// ack marks runs as done. What failed before in the transaction was counted by fail: under
// the write lock the order of locks does not matter.
func ack(t *txn, o op.OutboxAck) (int64, error) {
	var settled []run
	total, err := settle(t, o.Runs, func(held *op.Held, taken []run) error {
		for i := range taken {
			taken[i].Retry, taken[i].Suspect = 0, 0 // so that done runs merge
		}
		merged := merge(taken)
		for _, r := range merged {
			if err := t.do(outboxDoneInsert{Lo: r.Lo, N: r.N, Owner: held.Owner, Worker: o.Worker}); err != nil {
				return err
			}
		}
		settled = append(settled, merged...)
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := next(t, settled); err != nil {
		return 0, err
	}
	return total, countSteps(t, stepCompleted, settled)
}

func ackOne(t *txn, o op.OutboxAckOne) (int64, error) {
	if len(o.Result) > 0 {
		if _, err := putResults(t, op.JoinResults{Results: []op.JoinResult{{Owner: o.Owner, ID: o.ID, Result: o.Result}}}); err != nil {
			return 0, err
		}
	}
	return ack(t, op.OutboxAck{Runs: []op.Held{{Owner: o.Owner, Lo: o.ID, N: 1}}, Worker: o.Worker})
}

func abandon(t *txn, o op.OutboxAbandon) (int64, error) {
	return settle(t, o.Runs, func(a *op.Abandoned, taken []run) error {
		for _, r := range taken {
			at := t.now + engine.Backoff(int(r.Retry)+1).Microseconds()
			if a.Delay != nil {
				at = t.now + a.Delay.Microseconds()
			}
			r.Suspect = 0 // its handler ended
			if a.Yield {
				if err := stepBack(t, &r); err != nil {
					return err
				}
			}
			if err := retryLater(t, r, at, a.Uncounted, attempt{a.Reported, &o.Worker, o.Keep}); err != nil {
				return err
			}
		}
		return nil
	})
}

// attempt is one that failed.
type attempt struct {
	op.Reported
	worker *string
	keep   int // so many of a message are kept
}

// failed keeps the attempt of a message.
func (a attempt) failed(t *txn, id, number int64) error {
	return t.do(outboxAttemptInsert{ID: id, Attempt: number, Worker: a.worker, Error: a.Error}, outboxAttemptTrim{ID: id, Keep: a.keep})
}

// retryLater puts a run back into ready, with one more attempt counted unless it is uncounted.
func retryLater(t *txn, r run, at int64, uncounted bool, a attempt) error {
	r.At = at
	if !uncounted {
		r.Retry++
	}
	for id := r.Lo; id < r.end(); id++ {
		if err := t.do(outboxExceptionUpsert{ID: id, RetryCount: r.Retry, NextAttemptAt: &at, Reported: a.Reported}); err != nil {
			return err
		}
		if uncounted {
			continue
		}
		if err := a.failed(t, id, r.Retry); err != nil {
			return err
		}
	}
	return toReady(t, r)
}

// Statuses of messages that ended without being done.
const (
	statusFailed    = 3
	statusDiscarded = 4
	statusExpired   = 5
)

func fail(t *txn, o op.OutboxFail) (int64, error) {
	var settled []run
	total, err := settle(t, o.Runs, func(f *op.Failure, taken []run) error {
		settled = append(settled, taken...)
		if !f.Hold {
			if err := next(t, taken); err != nil {
				return err
			}
		}
		switch {
		case f.Expired:
			return endMessages(t, taken, statusExpired, f.Reported)
		case f.Cancelled:
			return discardHeld(t, taken, f.Reported)
		}
		if err := endMessages(t, taken, statusFailed, f.Reported); err != nil {
			return err
		}
		return failedAttempts(t, taken, attempt{f.Reported, &o.Worker, o.Keep})
	})
	if err != nil {
		return 0, err
	}
	return total, countSteps(t, stepFailed, settled)
}

// discardHeld discards messages whose handlers were stopped. As any discard it can be taken back.
func discardHeld(t *txn, runs []run, reason op.Reported) error {
	if err := endMessages(t, runs, statusFailed, reason); err != nil {
		return err
	}
	for _, r := range runs {
		for id := r.Lo; id < r.end(); id++ {
			if err := t.do(outboxDiscardOne{ID: id}); err != nil {
				return err
			}
		}
	}
	return nil
}

// failedAttempts keeps the last attempt of messages that failed for good.
func failedAttempts(t *txn, runs []run, a attempt) error {
	for _, r := range runs {
		for id := r.Lo; id < r.end(); id++ {
			if err := a.failed(t, id, r.Retry+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// endMessages records the status and reason of messages that ended without being done.
func endMessages(t *txn, runs []run, status int, reason op.Reported) error {
	for _, r := range runs {
		for id := r.Lo; id < r.end(); id++ {
			if err := t.do(outboxExceptionUpsert{ID: id, Status: status, RetryCount: r.Retry, Reported: reason}); err != nil {
				return err
			}
		}
	}
	return nil
}

func release(t *txn, o op.OutboxRelease) (int64, error) {
	return settle(t, o.Runs, func(c *op.Released, taken []run) error {
		for _, r := range taken {
			if c.Delay > 0 {
				r.At = t.now + c.Delay.Microseconds()
			}
			if !c.Unbegun {
				r.Suspect = 0
			}
			if err := toReady(t, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// extend extends the lease of the ids given, which may split their runs.
func extend(t *txn, o op.OutboxExtend) (int64, error) {
	until := t.now + o.Lease.Microseconds()
	return settle(t, o.Runs, func(held *op.Held, taken []run) error {
		for _, r := range taken {
			r.LockedUntil = until
			if err := toClaim(t, r, held.Owner); err != nil {
				return err
			}
		}
		return nil
	})
}

// reap puts runs whose lease has expired back. Ids whose messages were deleted from the table by hand are
// left out: nobody settles them, and they would be claimed again and again.
func reap(t *txn, o op.OutboxReap) (total int64, err error) {
	expired, err := rows(t, outboxReapFind{Most: o.Most})
	if err != nil {
		return 0, err
	}
	for _, r := range expired {
		if err := t.do(outboxTakeDelete{Lo: r.Lo}); err != nil {
			return 0, err
		}
		kept, err := rows(t, outboxReapKept{Lo: r.Lo, End: r.end()})
		if err != nil {
			return 0, err
		}
		total += r.N
		for _, k := range kept {
			r.Lo, r.N = k.Lo, k.N
			if err := suspectAgain(t, r, o.Keep); err != nil {
				return 0, err
			}
		}
	}
	return total, nil
}
