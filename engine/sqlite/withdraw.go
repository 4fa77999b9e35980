package sqlite

import "github.com/bravellian/pawl/engine"

// withdraw takes messages out of ready, whatever runs they are part of, and
// returns what was taken, a run of one each. due: only those that are due.
func withdraw(t *txn, ids []int64, due bool) (taken []run, err error) {
	for _, id := range ids {
		r := run{n: 0}
		err := t.query("outbox/withdraw_find", func(row engine.Row) error {
			return row.Scan(&r.lo, &r.n, &r.lane, &r.at, &r.retry)
		}, id, due)
		if err != nil {
			return nil, err
		}
		if r.n == 0 {
			continue
		}
		if _, err := t.exec("outbox/withdraw_delete", r.lo); err != nil {
			return nil, err
		}
		for _, part := range [][2]int64{{r.lo, id}, {id + 1, r.end()}} {
			if part[0] >= part[1] {
				continue
			}
			if _, err := t.exec("outbox/ready_insert", r.lane, r.at, part[0], part[1]-part[0], r.retry); err != nil {
				return nil, err
			}
		}
		taken = append(taken, run{lo: id, n: 1, lane: r.lane, at: r.at, retry: r.retry})
	}
	return taken, nil
}
