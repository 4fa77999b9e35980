package anydriver

import "github.com/bravellian/pawl/internal/engine"

// outboxWithdrawFind reads the ready run that contains a message.
type outboxWithdrawFind struct {
	engine.Rows[run]
	ID  int64
	Due bool // only if it is due
}

// outboxWithdrawDelete deletes a ready run.
type outboxWithdrawDelete byLo

// withdraw removes messages from ready, whatever runs they are part of, and returns them, a
// run of one each. due: only those that are due.
func withdraw(t *txn, ids []int64, due bool) (taken []run, err error) {
	for _, id := range ids {
		r, found, err := one(t, outboxWithdrawFind{ID: id, Due: due})
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if err := t.do(outboxWithdrawDelete{Lo: r.Lo}); err != nil {
			return nil, err
		}
		for _, part := range [][2]int64{{r.Lo, id}, {id + 1, r.end()}} {
			if part[0] >= part[1] {
				continue
			}
			rest := r
			rest.Lo, rest.N = part[0], part[1]-part[0]
			if err := toReady(t, rest); err != nil {
				return nil, err
			}
		}
		r.Lo, r.N = id, 1
		taken = append(taken, r)
	}
	return taken, nil
}
