package anydriver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/ordering"
)

const (
	// manyHeads is how many messages a claim wants that takes the first ones of keys as it finds them. Claims
	// of fewer put messages in order, and take the oldest.
	manyHeads = 100
	// metHeads and metForEach bound how many groups such a claim looks at.
	metHeads, metForEach = 128, 2
	// hiddenEvery is how many claims that find enough put messages in order that are behind others. One
	// may hide another key's: two of 100 000 share a group.
	hiddenEvery = 32
)

type (
	// outboxOrderHeads reads the first message of each group from Low to High.
	outboxOrderHeads struct {
		engine.Rows[firstOfKey]
		Lane, Low, High int64
	}
	firstOfKey struct {
		run
		CreatedAt int64
		Key       string
		Free      bool // none of its key is in line
	}
)

// besideGroups lets messages that lie in groups be claimed by take, and then others by the function others: what
// these leave is for groups again.
func besideGroups(t *txn, c *claimRequest, open []queueLane, take func([]run) error, others func() error) error {
	if c.groups == 0 {
		return others()
	}
	heads, err := claimHeads(t, c, open, take)
	if err != nil {
		return err
	}
	turns, err := claimTurns(t, c, open, take)
	if err != nil {
		return err
	}
	if err := others(); err != nil {
		return err
	}
	if heads && c.most > 0 {
		runs, _, _, err := takeHeads(t, c, c.most)
		if err != nil {
			return err
		}
		if err := take(runs); err != nil {
			return err
		}
	}
	if !turns || c.most <= 0 {
		return nil
	}
	runs, err := takeTurns(t, c, c.most)
	if err != nil {
		return err
	}
	return take(runs)
}

// claimHeads lets messages with ordering keys be claimed by take, half of the claim while others are due, and
// reports whether there were any. Others are put in order: what was due later, and, unless enough were found, what is
// behind the first of its key.
func claimHeads(t *txn, c *claimRequest, open []queueLane, take func([]run) error) (found bool, err error) {
	if waiting, err := waits(t, c, -ordering.Groups, math.MaxInt64); err != nil || !waiting {
		return false, err
	}
	all, most := c.most, c.most
	if most >= manyHeads {
		due, err := anyDue(t, open)
		if err == nil && !due {
			due, err = waits(t, c, firstTurn, lastTurn)
		}
		if err != nil {
			return false, err
		}
		if due {
			most /= 2
		}
	}
	if most < manyHeads {
		return false, sequence(t, c.queue, c.groups, all)
	}
	runs, full, hidden, err := takeHeads(t, c, most)
	if found = len(runs) > 0; err == nil && found {
		err = take(runs)
	}
	late := false
	if err == nil && full {
		late, err = waits(t, c, atOnce, math.MaxInt64)
	}
	if err == nil && (!full || late || hidden && rand.IntN(hiddenEvery) == 0) {
		err = sequence(t, c.queue, c.groups, all)
	}
	return found, err
}

// waits reports whether messages lie in groups from low to high.
func waits(t *txn, c *claimRequest, low, high int64) (bool, error) {
	first, err := rows(t, outboxOrderPick{Lane: c.groups, Low: low, High: high, Most: 1})
	return len(first) > 0, err
}

// anyDue reports whether messages of lanes are due.
func anyDue(t *txn, lanes []queueLane) (bool, error) {
	for _, l := range lanes {
		if head, err := pick(t, l.ID, 1); err != nil || len(head) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// takeHeads makes messages with ordering keys that are due at once the heads of their keys, and removes them from
// ready: of each key of which none is in line the first, from a key that is chosen at random. full reports whether there were enough; hidden, whether groups were met from which none was taken.
func takeHeads(t *txn, c *claimRequest, most int64) (taken []run, full, hidden bool, err error) {
	var found []firstOfKey
	keys := map[string]bool{} // another program may have put one elsewhere
	start := -1 - rand.Int64N(ordering.Groups)
	for _, part := range [][2]int64{{start, atOnce - 1}, {-ordering.Groups, start - 1}} { // to the end, then from the beginning
		met, before := 0, len(found)
		err = each(t, outboxOrderHeads{Lane: c.groups, Low: part[0], High: part[1]}, func(r *firstOfKey) error {
			if met++; r.Free && !keys[r.Key] {
				keys[r.Key] = true
				found = append(found, *r)
			}
			if full = int64(len(found)) >= most; full || met >= metHeads+metForEach*(len(found)-before) {
				return errStop
			}
			return nil
		})
		if err != nil {
			return nil, false, false, err
		}
		if hidden = hidden || met > len(found)-before; full {
			break
		}
	}
	for i := range found {
		if err := found[i].take(t, c); err != nil {
			return nil, false, false, err
		}
		taken = append(taken, found[i].run)
	}
	slices.SortFunc(taken, func(a, b run) int { return cmp.Compare(a.Lo, b.Lo) })
	return merge(taken), full, hidden, nil
}

// take removes the message from ready, and makes it the head of its key. It is put back as others of the queue are.
func (f *firstOfKey) take(t *txn, c *claimRequest) error {
	if err := t.do(outboxWithdrawDelete{Lo: f.Lo}); err != nil {
		return err
	}
	if rest := f.run; rest.N > 1 {
		rest.Lo, rest.N = f.Lo+1, f.N-1
		if err := toReady(t, rest); err != nil {
			return err
		}
	}
	f.N, f.At, f.Lane = 1, f.CreatedAt, engine.LaneID(c.queue, 0, engine.Claimable)
	return t.do(outboxOrderInsert{inLine: inLine{ID: f.Lo, Lane: c.groups, Key: f.Key, Head: true}})
}
