package outbox

import (
	"context"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// batch is messages that are ready to be written: validated, with their ids.
type batch struct {
	o *Outbox
	*enqueue
	calls     []*engine.Call
	elsewhere bool // kept by the component, no messages yet
}

// batch validates messages and assigns their ids; see queue.Queue.
func (o *Outbox) batch(ctx context.Context, tx Tx, msgs []Message) (*batch, error) {
	e, err := o.prepare(o.stamped(ctx, msgs))
	if err != nil {
		return nil, err
	}
	b := &batch{o: o, enqueue: e}
	if len(msgs) == 0 {
		return b, nil
	}
	if err := o.identify(ctx, tx, e); err != nil {
		return nil, err
	}
	if tx != nil {
		o.learnLanes(ctx, b.entries)
	}
	return b, nil
}

// Calls are what writes the messages; each may run in a caller's transaction.
func (b *batch) Calls() []*engine.Call {
	if b.calls == nil && len(b.entries) > 0 {
		b.calls = b.o.enqueueCalls(b.entries, b.generation)
	}
	return b.calls
}

// IDs returns the messages' ids in their order.
func (b *batch) IDs() []MessageID { return b.ids() }

// Positions returns where the messages will lie, in their order. A message
// whose supplied id is known already lies elsewhere.
func (b *batch) Positions() []Position {
	ids := make([]Position, len(b.entries))
	for i, en := range b.entries {
		ids[i] = Position(en.id)
	}
	return ids
}

// CallsTo is in place of Calls for a component that keeps the messages itself
// until it makes them messages: keep returns the operation that does so. index says
// for each of the messages which of the batch's it is.
func (b *batch) CallsTo(keep func(messages []op.NewMessage, index []int) engine.Operation) []*engine.Call {
	b.elsewhere = true
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

// prepared returns a call that holds in a generation of the database only.
func prepared(o engine.Operation, generation int64) *engine.Call {
	c := engine.Ask(o)
	c.Generation = generation
	return c
}

// Generation is that of the database when the messages got their positions.
func (b *batch) Generation() int64 { return b.generation }

// Ran is to be called when the calls have run, in tx or, if that is nil, in a
// transaction that has committed: then it remembers what that made known and
// wakes this process's workers. It logs the messages.
func (b *batch) Ran(ctx context.Context, tx Tx) {
	if b.elsewhere {
		if tx == nil {
			b.o.lanes.committed(b.calls)
		}
		return
	}
	if tx == nil {
		b.o.committed(b.entries, b.calls)
	}
	b.o.enqueued(ctx, b.entries)
}

// enqueueCalls write entries, and make their lanes known if need be.
func (o *Outbox) enqueueCalls(entries []*entry, generation int64) []*engine.Call {
	calls := o.lanes.register(generation, entries)
	for part := range chunks(entries) {
		calls = append(calls, prepared(enqueueOp(inOrder(part)), generation))
	}
	return calls
}

func (o *Outbox) committed(entries []*entry, calls []*engine.Call) {
	o.lanes.committed(calls)
	var rung []string
	for _, en := range entries {
		if q := en.msg.queue(); !slices.Contains(rung, q) {
			rung = append(rung, q)
			o.db.Notify(q)
		}
	}
}

// LaneCalls are in place of Calls for a component that needs the messages only as
// a pattern: they make the lanes known.
func (b *batch) LaneCalls() []*engine.Call {
	b.elsewhere, b.calls = true, b.o.lanes.register(b.generation, b.entries)
	return b.calls
}

// Headers returns the first message's headers as they are stored.
func (b *batch) Headers() *string { return b.entries[0].headers }

// Lane is the number under which the first message's queue and priority are known.
func (b *batch) Lane() int64 { return b.entries[0].lane }
