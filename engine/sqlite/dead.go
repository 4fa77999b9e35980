package sqlite

import "github.com/bravellian/pawl/engine"

// What becomes of messages that are over: failed ones are redriven or discarded,
// old ones forgotten.

// dead finds failed messages (args 0 ids or nil, 1 topic or nil, 2 how many)
// and calls do for each; the call answers how many there were.
func dead(t *txn, c *engine.Call, do func(id, lane int64) error) error {
	var found [][2]int64
	err := t.query("outbox/dead_find", func(row engine.Row) error {
		var id, lane int64
		defer func() { found = append(found, [2]int64{id, lane}) }()
		return row.Scan(&id, &lane)
	}, c.Args[0], c.Args[1], c.Args[2])
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
		if _, err := t.exec("outbox/ready_insert", lane, t.now, id, 1, 0); err != nil {
			return err
		}
		return reopen(t, id)
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
	before := t.now - micros(c, 0)
	if _, err := t.exec("job/settle_runs"); err != nil { // before their messages are forgotten
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
