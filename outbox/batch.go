package outbox

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// batch is messages that are ready to be written: validated, with their ids.
type batch struct {
	o *Outbox
	*enqueueCall
	calls             []*engine.Call
	storedByComponent bool // stored by the component, no messages yet
}

// batch validates messages and sets their ids; see queue.Queue.
func (o *Outbox) batch(ctx context.Context, tx Tx, msgs []Message, own int) (*batch, error) {
	e, err := o.prepare(o.withHeaders(ctx, msgs), own)
	if err != nil {
		return nil, err
	}
	b := &batch{o: o, enqueueCall: e}
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
func (b *batch) Calls() []*engine.Call {
	if b.calls == nil && len(b.entries) > 0 {
		b.calls = b.o.enqueueCalls(b.entries, b.generation)
	}
	return b.calls
}

// IDs returns the messages' ids in their order.
func (b *batch) IDs() []MessageID { return b.ids() }

// Positions returns the messages' positions in their order. A message whose supplied id is known
// has another one already.
func (b *batch) Positions() []Position {
	ids := make([]Position, len(b.entries))
	for i, en := range b.entries {
		ids[i] = Position(en.id)
	}
	return ids
}

// CallsTo replaces Calls for a component that stores the messages itself until it enqueues them:
// keep returns the operation that does so. index has for each of the messages its index in the
// batch.
func (b *batch) CallsTo(keep func(messages []op.NewMessage, index []int) engine.Operation) []*engine.Call {
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

// Generation returns the database's generation when the messages got their positions.
func (b *batch) Generation() int64 { return b.generation }

// Ran is to be called when the calls have run, in tx or, if that is nil, in a transaction that has
// committed: then it records the lanes that were registered and notifies this process's workers.
// It logs the messages.
func (b *batch) Ran(ctx context.Context, tx Tx) {
	if b.storedByComponent {
		if tx == nil {
			b.o.lanes.committed(b.calls)
		}
		return
	}
	if tx == nil {
		b.o.lanes.committed(b.calls)
		b.o.wake(b.entries)
	}
	b.o.notifyEnqueued(ctx, b.written())
}

// LaneCalls replaces Calls for a component that uses the messages only as a template: the calls
// register the lanes.
func (b *batch) LaneCalls() []*engine.Call {
	b.storedByComponent, b.calls = true, b.o.lanes.register(b.generation, b.entries)
	return b.calls
}

// Headers returns the first message's headers as they are stored.
func (b *batch) Headers() *string { return b.entries[0].headers }

// Lane returns the number of the first message's queue and priority.
func (b *batch) Lane() int64 { return b.entries[0].lane }
