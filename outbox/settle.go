package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// columns are runs to settle, laid out as the operations take them.
type columns struct {
	owners  [][16]byte
	lo, n   []int64
	delays  []time.Duration
	retries []*time.Duration
	errs    []*string
}

func (c *columns) add(owner OwnerToken, r work.Run) {
	c.owners = append(c.owners, owner)
	c.lo = append(c.lo, r.Lo)
	c.n = append(c.n, r.N)
}

func fill[T any](n int, v T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func (c *columns) call(op string, rest ...any) *engine.Call {
	return engine.Count(op, append([]any{c.owners, c.lo, c.n}, rest...)...)
}

// ack also counts, in joins, what failed without being counted.
func (c *columns) ack(by string, failed *columns) *engine.Call {
	return c.call("outbox/ack", by, failed.lo, failed.n)
}

func (c *columns) abandon(delay *time.Duration, reason *string) *engine.Call {
	return c.call("outbox/abandon", fill(len(c.lo), delay), fill(len(c.lo), reason))
}

func (c *columns) fail(reason *string) *engine.Call {
	return c.call("outbox/fail", fill(len(c.lo), reason), true)
}

func (c *columns) release(delay time.Duration) *engine.Call {
	return c.call("outbox/release", fill(len(c.lo), delay))
}

func (c *columns) extend(lease time.Duration) *engine.Call { return c.call("outbox/extend", lease) }

// heldRuns lays items out as runs, in order of id: every settle takes its
// locks in the same order.
func heldRuns(held []work.Held) *columns {
	held = slices.Clone(held)
	slices.SortFunc(held, func(a, b work.Held) int { return cmp.Compare(a.ID, b.ID) })
	c := &columns{}
	for _, h := range held {
		if k := len(c.lo) - 1; k >= 0 && c.owners[k] == h.Owner && int64(h.ID) == c.lo[k]+c.n[k] {
			c.n[k]++
			continue
		}
		c.add(h.Owner, work.Run{Lo: int64(h.ID), N: 1})
	}
	return c
}

// settleCalls says in calls what is to become of items. Acks come last and
// count for the failures too: joins are locked after all messages (D-39), or
// two workers that settle steps of the same joins could wait for each other.
func settleCalls(s *work.Settlement, worker string) []*engine.Call {
	var calls []*engine.Call
	if len(s.Retries) > 0 {
		calls = append(calls, abandonCall(s.Retries))
	}
	if len(s.Releases) > 0 {
		calls = append(calls, releaseCall(s.Releases))
	}
	if len(s.Parks) > 0 {
		calls = append(calls, parkCall(s.Parks))
	}
	failed := &columns{}
	if len(s.Failures) > 0 {
		failed = failures(s.Failures)
		calls = append(calls, failed.call("outbox/fail", failed.errs, len(s.Acks) == 0))
	}
	if len(s.Acks) > 0 {
		calls = append(calls, heldRuns(s.Acks).ack(worker, failed))
	}
	return calls
}

// Items that went wrong have errors and delays of their own, so each is a run.

func abandonCall(retries []work.Retry) *engine.Call {
	var c columns
	slices.SortFunc(retries, func(a, b work.Retry) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range retries {
		c.add(r.Owner, work.Run{Lo: int64(r.ID), N: 1})
		c.retries = append(c.retries, r.Delay)
		c.errs = append(c.errs, work.Optional(r.Error))
	}
	return c.call("outbox/abandon", c.retries, c.errs)
}

func failures(failures []work.Failure) *columns {
	c := &columns{}
	slices.SortFunc(failures, func(a, b work.Failure) int { return cmp.Compare(a.ID, b.ID) })
	for _, f := range failures {
		c.add(f.Owner, work.Run{Lo: int64(f.ID), N: 1})
		c.errs = append(c.errs, work.Optional(f.Error))
	}
	return c
}

// parkCall lays neighbours of one topic aside together.
func parkCall(parks []work.Park) *engine.Call {
	var c columns
	var topics []string
	slices.SortFunc(parks, func(a, b work.Park) int { return cmp.Compare(a.ID, b.ID) })
	for i, p := range parks {
		if k := len(c.lo) - 1; k >= 0 && parks[i-1].Topic == p.Topic && c.owners[k] == p.Owner && int64(p.ID) == c.lo[k]+c.n[k] {
			c.n[k]++
			continue
		}
		c.add(p.Owner, work.Run{Lo: int64(p.ID), N: 1})
		topics = append(topics, p.Topic)
	}
	return c.call("outbox/park", topics)
}

func releaseCall(releases []work.Release) *engine.Call {
	var c columns
	slices.SortFunc(releases, func(a, b work.Release) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range releases {
		c.add(r.Owner, work.Run{Lo: int64(r.ID), N: 1})
		c.delays = append(c.delays, r.Delay)
	}
	return c.call("outbox/release", c.delays)
}
