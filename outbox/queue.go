package outbox

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/fingerprint"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
)

// WorkQueue returns a queue for programs that claim its messages themselves; "" is [DefaultQueue].
// Messages are settled by any of them.
func (o *Outbox) WorkQueue(name string) *WorkQueue[Message, Position] {
	name = cmp.Or(name, DefaultQueue)
	return operator{o}.WorkQueueBy(func(owner [16]byte, lease time.Duration, n int) (engine.Answering[op.OutboxClaimed], error) {
		return op.OutboxClaimAny{Queue: name, Owner: owner, Lease: lease, Most: n}, engine.CheckText("queue", name, limits.Queue, true)
	})
}

// WorkQueueBy is a WorkQueue for components whose own operations claim messages.
func (o operator) WorkQueueBy(claim func(owner [16]byte, lease time.Duration, n int) (engine.Answering[op.OutboxClaimed], error)) *WorkQueue[Message, Position] {
	return NewWorkQueue(access.Key{}, queue.Work[Message, Position]{
		Claim: func(ctx context.Context, owner [16]byte, lease time.Duration, n int) ([]*Message, error) {
			c, err := claim(owner, lease, n)
			if err != nil {
				return nil, err
			}
			return o.claimSelf(ctx, owner, lease, n, c)
		},
		Settle: func(ctx context.Context, owner [16]byte, ids []Position, as queue.Outcome) (int64, error) {
			return o.settle(ctx, owner, ids, func(runs []op.Held) []*engine.Call {
				print := worker.Optional(fingerprint.Of(worker.Value(as.Error)))
				return []*engine.Call{engine.Ask(op.ActivityCount{Runs: runs, Outcome: outcomes()[as.As], Fingerprint: print}), engine.Ask(o.outcomeOp(runs, &as))}
			})
		},
		Reap: o.reapExpired,
	})
}

// outcomes returns as what messages are counted that a program settles.
func outcomes() []string {
	return []string{queue.Done: "done", queue.Abandoned: "retried", queue.Failed: "failed"}
}

// outcomeOp settles runs that were claimed by a program.
func (o *Outbox) outcomeOp(runs []op.Held, as *queue.Outcome) engine.Operation {
	switch as.As {
	case queue.Abandoned:
		all := make([]op.Abandoned, len(runs))
		for i, r := range runs {
			all[i] = op.Abandoned{Held: r, Delay: as.Delay, Reported: reported(worker.Value(as.Error))}
		}
		return o.retryOp(all)
	case queue.Failed:
		all := make([]op.Failure, len(runs))
		for i, r := range runs {
			all[i] = op.Failure{Held: r, Reported: reported(worker.Value(as.Error))}
		}
		return o.failOp(all, true)
	default:
		return op.OutboxAck{Runs: runs, Worker: o.opts.Worker}
	}
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

// Release puts messages that owner has claimed back at once, without counting an attempt.
func (o *Outbox) Release(ctx context.Context, owner OwnerToken, ids ...Position) (int64, error) {
	return o.settle(ctx, owner, ids, func(runs []op.Held) []*engine.Call {
		all := make([]op.Released, len(runs))
		for i, r := range runs {
			all[i] = op.Released{Held: r, Unbegun: true}
		}
		return []*engine.Call{engine.Ask(op.OutboxRelease{Runs: all})}
	})
}

// Extend extends the lease of messages that owner has claimed, from now.
func (o *Outbox) Extend(ctx context.Context, owner OwnerToken, lease time.Duration, ids ...Position) (int64, error) {
	if lease < time.Millisecond {
		return 0, engine.Invalid("lease", "shorter than a millisecond")
	}
	return o.settle(ctx, owner, ids, func(runs []op.Held) []*engine.Call {
		return []*engine.Call{engine.Ask(op.OutboxExtend{Runs: runs, Lease: lease})}
	})
}

// reapExpired puts messages back whose lease has expired, and returns how many.
func (o *Outbox) reapExpired(ctx context.Context) (int64, error) {
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

// stops returns those of messages that are claimed, and ends the others.
func (o *Outbox) stops(ctx context.Context, all []op.Stopping) (running []worker.Stop, err error) {
	var over []int64
	for _, s := range all {
		if s.Claimed {
			running = append(running, worker.Stop{ID: s.ID, Owner: worker.Value(s.Owner), Reason: s.Reason})
		} else {
			over = append(over, s.ID)
		}
	}
	if len(over) > 0 {
		_, err = engine.Exec(ctx, o.db, nil, op.OutboxStopEnd{IDs: over})
	}
	return running, err
}

func (o *Outbox) reap(ctx context.Context, more ...*engine.Call) (int64, error) {
	call := engine.Ask(op.OutboxReap{Most: reapRuns, Keep: o.opts.KeptAttempts, All: o.opts.StopWhenEmpty})
	err := o.db.Do(ctx, append([]*engine.Call{call}, more...)...)
	if err == nil && call.N > 0 {
		for _, q := range o.opts.Queues {
			o.db.Notify(q)
		}
	}
	return call.N, err
}

// settle runs calls on messages that owner has claimed, the last of which returns how many there were.
func (o *Outbox) settle(ctx context.Context, owner OwnerToken, ids []Position, settle func([]op.Held) []*engine.Call) (int64, error) {
	var runs []op.Held
	for _, r := range worker.Runs(slices.DeleteFunc(slices.Clone(ids), invalidPosition)) {
		runs = append(runs, op.Held{Owner: owner, Lo: r.Lo, N: int(r.N)})
	}
	if len(runs) == 0 {
		return 0, nil
	}
	calls := settle(runs)
	err := o.db.Do(ctx, calls...)
	return calls[len(calls)-1].N, err
}

// invalidPosition reports whether no message can have a position. Sums with such a number may
// exceed the range of the engine's integers.
func invalidPosition(id Position) bool { return id < 1 || id >= 1<<positionBits }
