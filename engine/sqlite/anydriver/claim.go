package anydriver

import "github.com/bravellian/pawl/engine"

// claim: args 0 queue, 1 owner, 2 lease, 3 how many, 4 whether a worker loop claims
// (unused: every claim begins with the oldest). Rows: id, message id,
// topic, correlation id, headers, payload, created, due, retry, queue,
// priority, locked until.
func claim(t *txn, c *engine.Call) error {
	need := int64(arg[int](c, 3))
	lanes, err := lanesOf(t, arg[string](c, 0))
	if err != nil {
		return err
	}
	until := t.now + micros(c, 2)
	for _, l := range lanes {
		runs, err := claimLane(t, l.id, need, arg[[16]byte](c, 1), until)
		if err != nil {
			return err
		}
		for _, r := range runs {
			if err := l.messages(t, c, r); err != nil {
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

// queueLane is one of a queue's.
type queueLane struct{ id, priority int64 }

// lanesOf returns the lanes of a queue in order of priority; none of a paused one.
func lanesOf(t *txn, queue string) (lanes []queueLane, err error) {
	err = t.query("outbox/claim_lanes", func(r engine.Row) error {
		var l queueLane
		defer func() { lanes = append(lanes, l) }()
		return r.Scan(&l.id, &l.priority)
	}, queue)
	return lanes, err
}

// messages answers a claim with the messages of a run.
func (l *queueLane) messages(t *txn, c *engine.Call, r run) error {
	return t.query("outbox/claim_messages", c.Each, r.lo, r.end(), r.retry, c.Args[0], l.priority, r.until)
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
		rest := *last
		rest.lo, rest.n = last.end(), over
		if err := toReady(t, rest); err != nil {
			return nil, err
		}
	}
	runs := merge(picked)
	for i := range runs {
		runs[i].until = until
		if err := toClaim(t, runs[i], owner); err != nil {
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

// merge joins runs that follow each other, were tried equally often and are equally
// suspect.
func merge(runs []run) []run {
	out := runs[:0:0]
	for _, r := range runs {
		if k := len(out) - 1; k >= 0 && out[k].end() == r.lo && out[k].retry == r.retry && out[k].suspect == r.suspect && out[k].lane == r.lane {
			out[k].n += r.n
			out[k].at = min(out[k].at, r.at)
			continue
		}
		out = append(out, r)
	}
	return out
}
