package outbox

import (
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Batch is validated messages with their ids, ready to be written. It is for components that
// enqueue as part of a transaction of their own; programs call Enqueue and the like.
type Batch struct {
	o *Outbox
	*enqueueCall
	calls             []*engine.Call
	storedByComponent bool // stored by the component, no messages yet
}

// Prepare validates messages and sets their ids. tx is the transaction that will write them, nil
// for one of the component's calls.
func (o *Outbox) Prepare(ctx context.Context, tx Tx, msgs []Message) (*Batch, error) {
	return o.batch(ctx, tx, o.withHeaders(ctx, msgs))
}

// Template validates a message of which copies will be enqueued later: it gets no added headers,
// no id and no position.
func (o *Outbox) Template(m Message) (*Batch, error) {
	e, err := o.prepare([]Message{m})
	if err != nil {
		return nil, err
	}
	return &Batch{o: o, enqueueCall: e}, nil
}

func (o *Outbox) batch(ctx context.Context, tx Tx, msgs []Message) (*Batch, error) {
	e, err := o.prepare(msgs)
	if err != nil {
		return nil, err
	}
	b := &Batch{o: o, enqueueCall: e}
	if len(msgs) == 0 {
		return b, nil
	}
	if err := o.identify(ctx, tx, e); err != nil {
		return nil, err
	}
	if tx != nil {
		o.refreshLanes(ctx, b.entries)
	}
	return b, nil
}

// Calls returns the calls that write the messages; each may run in a caller's transaction.
func (b *Batch) Calls() []*engine.Call {
	if b.calls == nil && len(b.entries) > 0 {
		b.calls = b.o.enqueueCalls(b.entries, b.generation)
	}
	return b.calls
}

// IDs returns the messages' ids in their order.
func (b *Batch) IDs() []MessageID { return b.ids() }

// Positions returns the messages' positions in their order. A message whose supplied id is known
// has another one already.
func (b *Batch) Positions() []Position {
	ids := make([]Position, len(b.entries))
	for i, en := range b.entries {
		ids[i] = Position(en.id)
	}
	return ids
}

// CallsTo replaces Calls for a component that stores the messages itself until it enqueues them:
// keep returns the operation that does so. index has for each of the messages its index in the
// batch.
func (b *Batch) CallsTo(keep func(messages []op.NewMessage, index []int) engine.Operation) []*engine.Call {
	b.storedByComponent = true
	b.calls = b.o.lanes.register(b.generation, b.entries)
	for part := range chunks(b.entries) {
		part = inOrder(part)
		index := make([]int, len(part))
		for i, en := range part {
			index[i] = en.index
		}
		b.calls = append(b.calls, prepared(keep(newMessages(part), index), b.generation))
	}
	return b.calls
}

// prepared returns a call that is valid in one generation of the database only.
func prepared(o engine.Operation, generation int64) *engine.Call {
	c := engine.Ask(o)
	c.Generation = generation
	return c
}

// Generation returns the database's generation when the messages got their positions.
func (b *Batch) Generation() int64 { return b.generation }

// Ran is to be called when the calls have run, in tx or, if that is nil, in a transaction that has
// committed: then it records the lanes that were registered and notifies this process's workers.
// It logs the messages.
func (b *Batch) Ran(ctx context.Context, tx Tx) {
	if b.storedByComponent {
		if tx == nil {
			b.o.lanes.committed(b.calls)
		}
		return
	}
	if tx == nil {
		b.o.committed(b.entries, b.calls)
	}
	b.o.notifyEnqueued(ctx, b.entries)
}

// enqueueCalls returns calls that write entries, and register their lanes if necessary.
func (o *Outbox) enqueueCalls(entries []*entry, generation int64) []*engine.Call {
	calls := o.lanes.register(generation, entries)
	for part := range chunks(entries) {
		calls = append(calls, prepared(enqueueOp(inOrder(part)), generation))
	}
	return calls
}

func (o *Outbox) committed(entries []*entry, calls []*engine.Call) {
	o.lanes.committed(calls)
	var queues []string
	for _, en := range entries {
		if q := en.msg.queue(); !slices.Contains(queues, q) {
			queues = append(queues, q)
			o.db.Notify(q)
		}
	}
}

// LaneCalls replaces Calls for a component that uses the messages only as a template: the calls
// register the lanes.
func (b *Batch) LaneCalls() []*engine.Call {
	b.storedByComponent, b.calls = true, b.o.lanes.register(b.generation, b.entries)
	return b.calls
}

// Headers returns the first message's headers as they are stored.
func (b *Batch) Headers() *string { return b.entries[0].headers }

// Lane returns the number of the first message's queue and priority.
func (b *Batch) Lane() int64 { return b.entries[0].lane }

// Reserve returns n positions and the ids of messages that a component's own operations will
// write there.
func (o *Outbox) Reserve(ctx context.Context, n int) ([]MessageID, []Position, error) {
	lo, err := o.db.ReserveIDs(ctx, nil, n)
	if err != nil {
		return nil, nil, err
	}
	ids, positions := make([]MessageID, n), make([]Position, n)
	now := time.Now()
	for i := range ids {
		positions[i] = Position(lo + int64(i))
		ids[i] = makeMessageID(now, o.tag, int64(positions[i]))
	}
	return ids, positions, nil
}

// ClaimWith is Claim with a component's own operation.
func (o *Outbox) ClaimWith(ctx context.Context, owner OwnerToken, lease time.Duration, n int, claim func(most int) engine.Answering[op.OutboxClaimed]) ([]*Message, error) {
	if err := checkClaim(DefaultQueue, owner, lease, n); err != nil {
		return nil, err
	}
	n = min(n, worker.MaxBatch)
	return o.claimSelf(ctx, owner, n, claim(n))
}

// AckCall returns a call that acks a delivered message, in a component's own transaction; it
// returns 1, or 0 if the lease is lost.
func (o *Outbox) AckCall(m *Message) *engine.Call {
	return engine.Ask(op.OutboxAck{Runs: []op.Held{held(m.Owner, m.Position)}, Worker: o.opts.Worker})
}
