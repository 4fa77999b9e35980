package anydriver

import "github.com/bravellian/pawl/engine"

// Only the guilty pay (D-12). What comes back from an expired lease is suspected of
// having killed its worker. The column suspect of ready and claim is 0 for all
// others. In ready it is how many messages a claim may take together with the run,
// all of them suspects; in claim it is how many there were. A claim of suspects
// that expires too comes back to be claimed in halves, and only one of a single
// message counts as a failed attempt.

// firstSuspects is how many suspects a claim may take that expired once: as many as
// any claim, so that a plain crash costs one more claim.
const firstSuspects = 1000

// suspectAgain puts a run back whose lease has run out.
func suspectAgain(t *txn, r run) error {
	r.at = t.now
	switch r.suspect {
	case 0:
		r.suspect = firstSuspects
	case 1:
		return retryLater(t, r, t.now, "lease expired")
	default:
		r.suspect = (r.suspect + 1) / 2
	}
	return toReady(t, r)
}

// claimSuspects: args as claim. Takes due suspects of one lane and nothing else.
func claimSuspects(t *txn, c *engine.Call) error {
	_, err := takeSuspects(t, c)
	return err
}

// claimAny: args as claim. Takes suspects or, where there are none, others.
func claimAny(t *txn, c *engine.Call) error {
	if n, err := takeSuspects(t, c); err != nil || n > 0 {
		return err
	}
	return claim(t, c)
}

// suspects: args 0 queue. Answers whether suspects are due.
func suspects(t *txn, c *engine.Call) error {
	var due int64
	err := t.query("outbox/suspects_due", func(engine.Row) error { due = 1; return nil }, c.Args[0])
	if err != nil {
		return err
	}
	return answer(c, due)
}

// takeSuspects claims suspects of the first lane that has some, and returns how many.
func takeSuspects(t *txn, c *engine.Call) (int64, error) {
	lanes, err := lanesOf(t, arg[string](c, 0))
	if err != nil {
		return 0, err
	}
	for _, l := range lanes {
		picked, total, err := pickSuspects(t, l.id, int64(arg[int](c, 3)))
		if err != nil {
			return 0, err
		}
		if total > 0 {
			return total, l.deliver(t, c, picked, total)
		}
	}
	return 0, nil
}

// pickSuspects takes due suspects of a lane out of ready, oldest first, no more
// than any of them may be claimed with.
func pickSuspects(t *txn, lane, most int64) (picked []run, total int64, err error) {
	err = t.query("outbox/suspects_pick", func(row engine.Row) error {
		r := run{lane: lane}
		if err := row.Scan(&r.at, &r.lo, &r.n, &r.retry, &r.suspect); err != nil {
			return err
		}
		if most = min(most, r.suspect); total >= most {
			return errStop
		}
		picked = append(picked, r)
		total = min(total+r.n, most)
		return nil
	}, lane)
	if err != nil || len(picked) == 0 {
		return nil, 0, err
	}
	var sum int64
	for _, r := range picked {
		if _, err := t.exec("outbox/withdraw_delete", r.lo); err != nil {
			return nil, 0, err
		}
		sum += r.n
	}
	last := &picked[len(picked)-1]
	last.n -= sum - total
	rest := *last
	if rest.lo, rest.n = last.end(), sum-total; rest.n > 0 {
		err = toReady(t, rest)
	}
	return picked, total, err
}

// deliver puts suspects under lease and answers with their messages.
func (l *queueLane) deliver(t *txn, c *engine.Call, picked []run, total int64) error {
	until := t.now + micros(c, 2)
	for i := range picked {
		picked[i].suspect, picked[i].until = total, until
	}
	for _, r := range merge(picked) {
		if err := toClaim(t, r, c.Args[1]); err != nil {
			return err
		}
		if err := l.messages(t, c, r); err != nil {
			return err
		}
	}
	return nil
}

// suspect is a run of a job or a timer that is one, and together with how many others
// it may be claimed.
type suspect struct {
	ID      int64
	Suspect int
}

// suspectsOf returns due jobs' runs or timers that are suspects, no more than any
// of them may be claimed with.
func suspectsOf(t *txn, statement engine.Answering[suspect], most int) (ids []int64, err error) {
	err = each(t, statement, func(s *suspect) error {
		if most = min(most, s.Suspect); len(ids) >= most {
			return errStop
		}
		ids = append(ids, s.ID)
		return nil
	})
	return ids, err
}
