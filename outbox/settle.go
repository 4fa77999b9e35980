package outbox

import (
	"cmp"
	"context"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/fingerprint"
	"github.com/bravellian/pawl/internal/worker"
)

// held is one message that an owner has claimed.
func held(owner [16]byte, id int64) op.Held { return op.Held{Owner: owner, Lo: id, N: 1} }

// follows reports whether a message follows a run of the same owner.
func follows(r *op.Held, owner [16]byte, id int64) bool {
	return r.Owner == owner && id == r.Lo+int64(r.N)
}

// heldRuns converts items to runs, in order of id: every settlement takes its locks in the same
// order.
func heldRuns(items []worker.Held) (runs []op.Held) {
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b worker.Held) int { return cmp.Compare(a.ID, b.ID) })
	for _, h := range items {
		if k := len(runs) - 1; k >= 0 && follows(&runs[k], h.Owner, h.ID) {
			runs[k].N++
			continue
		}
		runs = append(runs, held(h.Owner, h.ID))
	}
	return runs
}

// settleCalls returns the calls that settle items. Acks come last and count for the failures too:
// joins are locked after all messages (D-39), or two workers that settle steps of the same joins
// could wait for each other. Results come before the acks, which take the messages from their
// owners.
func (o *Outbox) settleCalls(s *worker.Settlement) (calls []*engine.Call) {
	if len(s.Retries) > 0 {
		calls = append(calls, engine.Ask(o.retryOp(abandoned(s.Retries))))
	}
	if len(s.Releases) > 0 {
		calls = append(calls, engine.Ask(op.OutboxRelease{Runs: released(s.Releases)}))
	}
	if len(s.Parks) > 0 {
		calls = append(calls, engine.Ask(op.OutboxPark{Runs: parked(s.Parks)}))
	}
	var failed []op.Span
	if len(s.Failures) > 0 {
		all := failures(s.Failures)
		for _, f := range all {
			failed = append(failed, op.Span{Lo: f.Lo, N: f.N})
		}
		calls = append(calls, engine.Ask(o.failOp(all, len(s.Acks) == 0)))
	}
	if len(s.Results) > 0 {
		calls = append(calls, engine.Ask(op.JoinResults{Results: results(s.Results)}))
	}
	if len(s.Acks) > 0 {
		calls = append(calls, engine.Ask(op.OutboxAck{Runs: heldRuns(s.Acks), Worker: o.opts.Worker, Failed: failed}))
	}
	return calls
}

// markMissed records which items settleCalls did not change: their owners held them no longer. Which
// acks those are is read. Of the others the database keeps no owner: all that were settled the same
// way count as missed.
func (o *Outbox) markMissed(ctx context.Context, s *worker.Settlement, calls []*engine.Call) {
	miss := func(h worker.Held) {
		if s.Missed == nil {
			s.Missed = map[worker.Held]struct{}{}
		}
		s.Missed[h] = struct{}{}
	}
	for _, c := range calls {
		switch c.Operation.(type) {
		case op.OutboxAck:
			if int(c.N) < len(s.Acks) {
				o.missedAcks(ctx, s.Acks, miss)
			}
		case op.OutboxAbandon:
			missedOf(c, s.Retries, func(r worker.Retry) { miss(r.Held) })
		case op.OutboxFail:
			missedOf(c, s.Failures, func(f worker.Failure) { miss(f.Held) })
		case op.OutboxRelease:
			missedOf(c, s.Releases, func(r worker.Release) { miss(r.Held) })
		case op.OutboxPark:
			missedOf(c, s.Parks, func(p worker.Park) { miss(p.Held) })
		}
	}
}

// missedOf passes all items on if a call settled fewer than all.
func missedOf[T any](c *engine.Call, all []T, miss func(T)) {
	if int(c.N) == len(all) {
		return
	}
	for _, one := range all {
		miss(one)
	}
}

// missedAcks passes on the acks that the database does not have.
func (o *Outbox) missedAcks(ctx context.Context, acks []worker.Held, miss func(worker.Held)) {
	reads := make([]*engine.Call, len(acks))
	for i, h := range acks {
		reads[i] = engine.Ask(op.OutboxAcked{ID: h.ID, Owner: h.Owner})
	}
	err := engine.ReadAll(ctx, o.db, reads...)
	for i, h := range acks {
		if err != nil || reads[i].N == 0 {
			miss(h)
		}
	}
}

func (o *Outbox) retryOp(runs []op.Abandoned) op.OutboxAbandon {
	return op.OutboxAbandon{Runs: runs, Worker: o.opts.Worker, Keep: o.opts.KeptAttempts}
}

func (o *Outbox) failOp(runs []op.Failure, count bool) op.OutboxFail {
	return op.OutboxFail{Runs: runs, Worker: o.opts.Worker, Keep: o.opts.KeptAttempts, Count: count}
}

// reported is an error as it is stored, "" none.
func reported(text string) op.Reported {
	return op.Reported{Error: worker.Optional(text), Fingerprint: worker.Optional(fingerprint.Of(text))}
}

// Failed items have errors and delays of their own, so each is a run.

func abandoned(retries []worker.Retry) []op.Abandoned {
	slices.SortFunc(retries, func(a, b worker.Retry) int { return cmp.Compare(a.ID, b.ID) })
	all := make([]op.Abandoned, len(retries))
	for i, r := range retries {
		all[i] = op.Abandoned{Held: held(r.Owner, r.ID), Delay: r.Delay, Reported: reported(r.Error), Yield: r.Yield, Uncounted: r.Uncounted}
	}
	return all
}

func failures(failures []worker.Failure) []op.Failure {
	slices.SortFunc(failures, func(a, b worker.Failure) int { return cmp.Compare(a.ID, b.ID) })
	all := make([]op.Failure, len(failures))
	for i, f := range failures {
		all[i] = op.Failure{Held: held(f.Owner, f.ID), Reported: reported(f.Error), Expired: f.Expired, Cancelled: f.Cancelled, Hold: f.Hold}
	}
	return all
}

// parked joins consecutive items of one topic into runs.
func parked(parks []worker.Park) (all []op.Parked) {
	slices.SortFunc(parks, func(a, b worker.Park) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range parks {
		if k := len(all) - 1; k >= 0 && all[k].Topic == p.Topic && follows(&all[k].Held, p.Owner, p.ID) {
			all[k].N++
			continue
		}
		all = append(all, op.Parked{Held: held(p.Owner, p.ID), Topic: p.Topic})
	}
	return all
}

func results(results []worker.Result) []op.JoinResult {
	slices.SortFunc(results, func(a, b worker.Result) int { return cmp.Compare(a.ID, b.ID) })
	all := make([]op.JoinResult, len(results))
	for i, r := range results {
		all[i] = op.JoinResult{Owner: r.Owner, ID: r.ID, Result: r.Data}
	}
	return all
}

func released(releases []worker.Release) []op.Released {
	slices.SortFunc(releases, func(a, b worker.Release) int { return cmp.Compare(a.ID, b.ID) })
	all := make([]op.Released, len(releases))
	for i, r := range releases {
		all[i] = op.Released{Held: held(r.Owner, r.ID), Delay: r.Delay, Unbegun: r.NotStarted}
	}
	return all
}
