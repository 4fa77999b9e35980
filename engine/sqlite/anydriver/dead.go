package anydriver

import "github.com/bravellian/pawl/engine"

// What becomes of messages that are over: failed ones are redriven or discarded,
// old ones forgotten.

// deadRow answers how many failed messages there were, and behind which position
// to go on, nil at the end.
type deadRow struct {
	n    int64
	last *int64
}

// Scan fills in both columns.
func (d deadRow) Scan(dest ...any) error {
	*dest[1].(**int64) = d.last
	return assignInt(dest[0], d.n)
}

// dead finds failed messages (args 0 ids, 1 topic, 2 queue, 3 part of the error, 4
// since, 5 before: each or nil; 6 behind this position, 7 how many to look at, 8
// how many at most) and calls do for each. Of the audit: args 9 id, 10 actor, 11
// target, 12 reason.
func dead(t *txn, c *engine.Call, action string, do func(id, lane int64) error) error {
	var found [][2]int64
	var d deadRow
	var seen, high int64
	look, most := int64(arg[int](c, 7)), arg[int64](c, 8)
	err := t.query("outbox/dead_find", func(row engine.Row) error {
		var id, lane int64
		var chosen bool
		if err := row.Scan(&id, &lane, &chosen); err != nil {
			return err
		}
		seen, high = seen+1, id
		if chosen && int64(len(found)) < most {
			found = append(found, [2]int64{id, lane})
		}
		return nil
	}, c.Args[:8]...)
	if err != nil {
		return err
	}
	d.n = int64(len(found))
	switch {
	case d.n >= most && d.n > 0:
		d.last = &found[d.n-1][0]
	case seen >= look:
		d.last = &high
	}
	for _, f := range found {
		if err := do(f[0], f[1]); err != nil {
			return err
		}
	}
	if len(c.Args) > 9 {
		if err := note(t, c.Args[9:], action, d.n); err != nil {
			return err
		}
	}
	return c.Each(d)
}

func redrive(t *txn, c *engine.Call) error {
	return dead(t, c, "redrive", func(id, lane int64) error { return redriveOne(t, id, lane) })
}

// redriveOne gives a failed message a fresh start.
func redriveOne(t *txn, id, lane int64) error {
	if _, err := t.exec("outbox/redrive_one", id); err != nil {
		return err
	}
	if _, err := t.exec("outbox/ready_insert", lane, t.now, id, 1, 0, 0); err != nil {
		return err
	}
	return reopen(t, id)
}

func discard(t *txn, c *engine.Call) error {
	return dead(t, c, "discard", func(id, _ int64) error {
		_, err := t.exec("outbox/discard_one", id)
		return err
	})
}

func countDead(t *txn, c *engine.Call) error {
	return dead(t, c, "", func(int64, int64) error { return nil })
}

// purge: args 0 age, 1 how many runs to look at. Answers how many messages went.
func purge(t *txn, c *engine.Call) error {
	before := t.now - micros(c, 0)
	if _, err := t.do(jobSettleRuns{}); err != nil { // before their messages are forgotten
		return err
	}
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
