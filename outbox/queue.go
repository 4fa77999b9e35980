package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
)

// The work-queue calls, for programs that run their own loop. The caller chooses an owner token, new
// for every claim; only with that token can the messages be settled. Ids that are unknown,
// duplicates, or claimed by another owner are ignored: the number returned is that of the others.

// Claim claims up to n due messages of DefaultQueue under a lease, oldest due first. None due is no
// error.
//
// Messages whose lease has expired are due, but are claimed apart from others and before them,
// because one of them may have ended the process that held it: claim when you hold nothing. If it
// happens again, fewer of them are returned by one claim. An expired lease counts as a failed
// attempt only for a message that was claimed alone, as one of those.
//
// A message that cannot be read is not returned: it fails, with the reason.
func (o *Outbox) Claim(ctx context.Context, owner OwnerToken, lease time.Duration, n int) ([]*Message, error) {
	return o.ClaimFrom(ctx, DefaultQueue, owner, lease, n)
}

// ClaimFrom is Claim for any queue.
func (o *Outbox) ClaimFrom(ctx context.Context, queue string, owner OwnerToken, lease time.Duration, n int) ([]*Message, error) {
	if err := checkClaim(queue, owner, lease, n); err != nil {
		return nil, err
	}
	n = min(n, worker.MaxBatch)
	return o.claimSelf(ctx, owner, lease, n, op.OutboxClaimAny{Queue: queue, Owner: owner, Lease: lease, Most: n})
}

// claimSelf is a claim of the program's own.
func (o *Outbox) claimSelf(ctx context.Context, owner [16]byte, lease time.Duration, n int, claim engine.Answering[op.OutboxClaimed]) ([]*Message, error) {
	for {
		var got delivery
		// Expired leases are reaped in the same transaction (OBX-097).
		reap := engine.Ask(op.OutboxReap{Most: reapRuns, Keep: o.opts.KeptAttempts})
		if err := o.db.Do(ctx, reap, claimCall(claim, owner, lease, n, &got)); err != nil {
			return nil, err
		}
		o.logReaped(ctx, reap.N)
		o.logClaimed(ctx, owner, len(got.msgs))
		if len(got.faults) == 0 && !slices.ContainsFunc(got.msgs, (*Message).expired) {
			return got.msgs, nil
		}
		if msgs, err := o.endUnusable(ctx, owner, &got); err != nil || len(msgs) > 0 {
			return msgs, err
		}
	}
}

func checkClaim(queue string, owner OwnerToken, lease time.Duration, n int) error {
	switch {
	case owner == OwnerToken{}:
		return engine.Invalid("owner token", "zero")
	case lease < time.Millisecond:
		return engine.Invalid("lease", "shorter than a millisecond")
	case n < 1:
		return engine.Invalid("batch size", "less than 1")
	}
	return engine.CheckText("queue", queue, limits.Queue, true)
}

// claim runs calls and then, unless it is of no messages, a worker loop's claim, in one transaction.
// A loop claims again at once when it got as many as it asked for: an engine may leave older
// messages for one of the next claims.
func (o *Outbox) claim(ctx context.Context, calls []*engine.Call, claim op.OutboxClaim) (got delivery, err error) {
	if claim.Most > 0 {
		calls = append(calls, claimCall(claim, claim.Owner, claim.Lease, claim.Most, &got))
	}
	if len(calls) == 0 {
		return got, nil
	}
	if err := o.db.Do(ctx, calls...); err != nil {
		return delivery{}, err
	}
	return got, nil
}

// priorityWait returns how long messages wait for those of other priorities; nil: for ever.
func (o *Outbox) priorityWait() *time.Duration {
	if o.opts.PriorityWait <= 0 {
		return nil
	}
	return &o.opts.PriorityWait
}

// delivery is the result of a claim.
type delivery struct {
	msgs   []*Message
	faults map[*Message]error // why some of them cannot be read; nil: all can
}

// claimCall returns a call that collects the messages of a claim.
func claimCall(claim engine.Answering[op.OutboxClaimed], owner [16]byte, lease time.Duration, n int, got *delivery) *engine.Call {
	began := time.Now()
	c := engine.Each(claim, func(row *op.OutboxClaimed, unread error) error {
		if got.msgs == nil {
			got.msgs = make([]*Message, 0, n)
		}
		m := &Message{Owner: owner}
		fault := m.fill(&row.OutboxMessage, unread)
		if m.Position == 0 {
			return fault // without its position it cannot be settled
		}
		m.limit(began, row.LockedUntil.Add(-lease))
		got.msgs = append(got.msgs, m)
		if fault != nil {
			got.note(m, fault)
		}
		return nil
	})
	c.Reset = func() { began, got.msgs, got.faults = time.Now(), got.msgs[:0], nil }
	return c
}

// Ack marks messages as handled.
func (o *Outbox) Ack(ctx context.Context, owner OwnerToken, ids ...Position) (int64, error) {
	return o.settle(ctx, owner, ids, func(runs []op.Held) engine.Operation { return op.OutboxAck{Runs: runs, Worker: o.opts.Worker} })
}

// Abandon puts messages back for another attempt after the default backoff,
// and counts this one as failed because of cause, which may be nil.
func (o *Outbox) Abandon(ctx context.Context, owner OwnerToken, cause error, ids ...Position) (int64, error) {
	return o.settle(ctx, owner, ids, func(runs []op.Held) engine.Operation { return o.abandonOp(runs, nil, causeText(cause)) })
}

// AbandonAfter is Abandon with a delay in place of the backoff.
func (o *Outbox) AbandonAfter(ctx context.Context, owner OwnerToken, delay time.Duration, cause error, ids ...Position) (int64, error) {
	if delay < 0 {
		return 0, engine.Invalid("delay", "negative")
	}
	return o.settle(ctx, owner, ids, func(runs []op.Held) engine.Operation { return o.abandonOp(runs, &delay, causeText(cause)) })
}

// Fail marks messages as failed for good because of cause.
func (o *Outbox) Fail(ctx context.Context, owner OwnerToken, cause error, ids ...Position) (int64, error) {
	return o.settle(ctx, owner, ids, func(runs []op.Held) engine.Operation {
		all := make([]op.Failure, len(runs))
		for i, r := range runs {
			all[i] = op.Failure{Held: r, Error: causeText(cause)}
		}
		return o.failOp(all, true)
	})
}

// Release puts messages back at once without counting an attempt.
func (o *Outbox) Release(ctx context.Context, owner OwnerToken, ids ...Position) (int64, error) {
	return o.settle(ctx, owner, ids, func(runs []op.Held) engine.Operation {
		all := make([]op.Released, len(runs))
		for i, r := range runs {
			all[i] = op.Released{Held: r, Unbegun: true}
		}
		return op.OutboxRelease{Runs: all}
	})
}

// Extend extends the lease of messages, from now.
func (o *Outbox) Extend(ctx context.Context, owner OwnerToken, lease time.Duration, ids ...Position) (int64, error) {
	if lease < time.Millisecond {
		return 0, engine.Invalid("lease", "shorter than a millisecond")
	}
	return o.settle(ctx, owner, ids, func(runs []op.Held) engine.Operation { return op.OutboxExtend{Runs: runs, Lease: lease} })
}

// ReapExpired puts messages back whose lease has expired, and returns how many. See Claim for how
// they are claimed again. Run does this by itself.
func (o *Outbox) ReapExpired(ctx context.Context) (int64, error) {
	var total int64
	if _, err := o.adopt(ctx); err != nil {
		return 0, err
	}
	for {
		n, err := o.reap(ctx)
		total += n
		if err != nil || n == 0 {
			o.logReaped(ctx, total)
			return total, err
		}
	}
}

// adoptEvery is how often a worker adopts lanes.
const adoptEvery = 10 * time.Second

// adoptIfDue is adopt, unless this outbox did so within adoptEvery.
func (o *Outbox) adoptIfDue(ctx context.Context) error {
	if last := o.adopted.Load(); time.Now().UnixNano()-last < int64(adoptEvery) || !o.adopted.CompareAndSwap(last, time.Now().UnixNano()) {
		return nil
	}
	_, err := o.adopt(ctx)
	return err
}

// adopt registers lanes that have messages and are not registered: a program that knew them from a
// history which was lost enqueued into them. Those of unknown queues stay; the doctor shows them.
func (o *Outbox) adopt(ctx context.Context) (int64, error) {
	call := engine.Ask(op.OutboxAdopt{Queues: o.opts.Queues})
	if err := o.db.Do(ctx, call); err != nil {
		return 0, err
	}
	if call.N > 0 {
		o.log.WarnContext(ctx, "queues that the database had lost are known again, with their messages", "count", call.N)
		for _, q := range o.opts.Queues {
			o.db.Notify(q)
		}
	}
	return call.N, nil
}

// reapRuns bounds one transaction: every message of a run gets a row.
const reapRuns = 50

func (o *Outbox) reap(ctx context.Context, more ...*engine.Call) (int64, error) {
	call := engine.Ask(op.OutboxReap{Most: reapRuns, Keep: o.opts.KeptAttempts})
	err := o.db.Do(ctx, append([]*engine.Call{call}, more...)...)
	if err == nil && call.N > 0 {
		for _, q := range o.opts.Queues {
			o.db.Notify(q)
		}
	}
	return call.N, err
}

func (o *Outbox) settle(ctx context.Context, owner OwnerToken, ids []Position, settle func([]op.Held) engine.Operation) (int64, error) {
	var runs []op.Held
	for _, r := range worker.Runs(slices.DeleteFunc(slices.Clone(ids), invalidPosition)) {
		runs = append(runs, op.Held{Owner: owner, Lo: r.Lo, N: int(r.N)})
	}
	if len(runs) == 0 {
		return 0, nil
	}
	return engine.Exec(ctx, o.db, nil, settle(runs))
}

func (o *Outbox) abandonOp(runs []op.Held, delay *time.Duration, reason *string) engine.Operation {
	all := make([]op.Abandoned, len(runs))
	for i, r := range runs {
		all[i] = op.Abandoned{Held: r, Delay: delay, Error: reason}
	}
	return o.retryOp(all)
}

// invalidPosition reports whether no message can have a position. Sums with such a number may
// exceed the range of the engine's integers.
func invalidPosition(id Position) bool { return id < 1 || id >= 1<<positionBits }

func causeText(cause error) *string {
	if cause == nil {
		return nil
	}
	return worker.Optional(worker.ErrorText(fmt.Sprint(cause)))
}
