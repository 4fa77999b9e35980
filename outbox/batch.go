package outbox

import (
	"context"
	"slices"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// Batch is messages that are ready to be written: validated, with their ids.
// It is for components that enqueue as part of a transaction of their own;
// programs call Enqueue and its siblings.
type Batch struct {
	o *Outbox
	*enqueue
	calls []*engine.Call
}

// Prepare validates messages and gives them their ids. tx is the transaction
// that will write them, nil for one that the component's calls make up.
func (o *Outbox) Prepare(ctx context.Context, tx Tx, msgs []Message) (*Batch, error) {
	e, err := o.prepare(msgs)
	if err != nil {
		return nil, err
	}
	b := &Batch{o: o, enqueue: e}
	if len(msgs) == 0 {
		return b, nil
	}
	if err := o.identify(ctx, tx, e); err != nil {
		return nil, err
	}
	if tx != nil {
		o.learnLanes(ctx, b.entries)
	}
	b.calls = o.enqueueCalls(b.entries)
	return b, nil
}

// Calls are what writes the messages; each may run in a caller's transaction.
func (b *Batch) Calls() []*engine.Call { return b.calls }

// IDs returns the messages' ids in their order.
func (b *Batch) IDs() []MessageID { return b.ids() }

// Positions returns where the messages will lie, in their order. A message
// whose supplied id is known already lies elsewhere.
func (b *Batch) Positions() []WorkItemID {
	ids := make([]WorkItemID, len(b.entries))
	for i, en := range b.entries {
		ids[i] = WorkItemID(en.id)
	}
	return ids
}

// Ran is to be called when the calls have run, in tx or, if that is nil, in a
// transaction that has committed: then it remembers what that made known and
// wakes this process's workers. It logs the messages.
func (b *Batch) Ran(ctx context.Context, tx Tx) {
	if tx == nil {
		b.o.committed(b.entries, b.calls)
	}
	b.o.logEnqueued(ctx, b.entries)
}

// enqueueCalls write entries, and make their lanes known if need be.
func (o *Outbox) enqueueCalls(entries []*entry) []*engine.Call {
	calls := o.lanes.register(entries)
	for part := range chunks(entries) {
		calls = append(calls, enqueueCall(part))
	}
	return calls
}

func (o *Outbox) committed(entries []*entry, calls []*engine.Call) {
	o.lanes.committed(calls)
	var rung []string
	for _, en := range entries {
		if q := en.msg.queue(); !slices.Contains(rung, q) {
			rung = append(rung, q)
			o.db.Ring(q)
		}
	}
}

// AckCall acks a message that was delivered, as part of a component's own
// transaction; it answers 1, or 0 if the lease is lost.
func (o *Outbox) AckCall(m *Message) *engine.Call {
	c := &columns{}
	c.add(m.Owner, work.Run{Lo: int64(m.WorkItemID), N: 1})
	return c.ack(o.opts.Worker, &columns{})
}
