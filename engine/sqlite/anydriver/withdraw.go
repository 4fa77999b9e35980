package anydriver

import "github.com/bravellian/pawl/engine"

// withdraw takes messages out of ready, whatever runs they are part of, and
// returns what was taken, a run of one each. due: only those that are due.
func withdraw(t *txn, ids []int64, due bool) (taken []run, err error) {
	for _, id := range ids {
		r := run{n: 0}
		err := t.query("outbox/withdraw_find", func(row engine.Row) error {
			return row.Scan(&r.lo, &r.n, &r.lane, &r.at, &r.retry, &r.suspect)
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
			rest := r
			rest.lo, rest.n = part[0], part[1]-part[0]
			if err := toReady(t, rest); err != nil {
				return nil, err
			}
		}
		r.lo, r.n = id, 1
		taken = append(taken, r)
	}
	return taken, nil
}
