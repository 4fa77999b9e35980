package anydriver

import (
	"math/rand/v2"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/ordering"
)

// Messages that take turns lie in the lane of messages with ordering keys, in groups of their own, one a key
// (ordering.FairAt). A claim takes one of each key, from a key that is chosen at random, then as many of each as
// it needs, the keys going first that have few.

const (
	firstTurn = -2 * ordering.Groups
	lastTurn  = -ordering.Groups - 1
	// turnRounds is how often a claim goes round: with one of each key, and with more.
	turnRounds = 4
)

// turn returns where a message of a run takes its turns, which was due later; it may take none.
func (m *keyed) turn(r *run) (at int64, takes bool) {
	if m.Key != nil && *m.Key != "" || m.Fair == nil || *m.Fair == "" || r.At <= atOnce || r.Suspect > 0 {
		return 0, false
	}
	return ordering.FairAt(*m.Fair, 0).UnixMicro(), true
}

// claimTurns lets messages that take turns be claimed by take, half of the claim while others are due, and reports
// whether there were any.
func claimTurns(t *txn, c *claimRequest, open []queueLane, take func([]run) error) (found bool, err error) {
	if found, err = waits(t, c, firstTurn, lastTurn); err != nil || !found || c.most <= 0 {
		return false, err
	}
	due, err := anyDue(t, open)
	if err != nil {
		return false, err
	}
	most := c.most
	if due {
		most = (most + rand.Int64N(2)) / 2 // of one by one every other
	}
	runs, err := takeTurns(t, c, most)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	return true, take(runs)
}

// takeTurns removes messages that take turns from ready, at most so many. They are put back as others of the queue
// are.
func takeTurns(t *txn, c *claimRequest, most int64) (taken []run, err error) {
	start := firstTurn + rand.Int64N(ordering.Groups)
	each := int64(1)
	for round := 1; round <= turnRounds && most > 0; round++ {
		keys := int64(0)
		for _, part := range [][2]int64{{start, lastTurn}, {firstTurn, start - 1}} { // to the end, then from the beginning
			for at := part[0]; most > 0; keys++ {
				some, err := rows(t, outboxOrderPick{Lane: c.groups, Low: at, High: part[1], Most: int(each)})
				if err != nil {
					return nil, err
				}
				if len(some) == 0 {
					break
				}
				n, err := takeTurn(t, c, some, min(each, most), &taken)
				if err != nil {
					return nil, err
				}
				most -= n
				at = some[0].At + 1
			}
		}
		if keys == 0 {
			break
		}
		if each = (most + keys - 1) / keys; round == turnRounds-1 {
			each = most
		}
	}
	return merge(taken), nil
}

// takeTurn removes messages of the first key of runs from ready, adds them to taken and returns how many.
func takeTurn(t *txn, c *claimRequest, runs []run, most int64, taken *[]run) (n int64, err error) {
	for _, r := range runs {
		if r.At != runs[0].At || n >= most {
			break
		}
		if err := t.do(outboxWithdrawDelete{Lo: r.Lo}); err != nil {
			return n, err
		}
		if rest := r; r.N > most-n {
			r.N = most - n
			rest.Lo, rest.N = r.end(), rest.N-r.N
			if err := toReady(t, rest); err != nil {
				return n, err
			}
		}
		n += r.N
		r.Lane, r.At = engine.LaneID(c.queue, 0, engine.Claimable), t.now
		*taken = append(*taken, r)
	}
	return n, nil
}
