package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/enginekit/coalesce"
)

// Tx is a transaction as functions with one of pawl's own get it. Calls take *sql.Tx, pgx.Tx
// and what wraps them as they are; what is no transaction is pawl.ErrNotInTransaction.
type Tx = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

const (
	// enqueueLeaders is how many standalone enqueues may be in flight at once; more calls than
	// that share statements (group commit). Two, so that one batch overlaps the other's fsync;
	// with four, 64 callers cost PostgreSQL 14 µs a message instead of 9.
	enqueueLeaders = 2
	// enqueueMerge bounds how many calls share one statement.
	enqueueMerge = 256
)

// Enqueue stores a message in a transaction of its own and returns its id.
// Calls at the same time share transactions. With pawl.ErrCommitUnknown the
// id is valid too: enqueuing again with it as Message.ID adds nothing twice.
// The id of a message with a unique key may be that of an earlier one, see
// Message.UniqueKey.
func (o *Outbox) Enqueue(ctx context.Context, m Message) (MessageID, error) {
	ids, err := o.EnqueueBatch(ctx, []Message{m})
	if len(ids) == 0 {
		return MessageID{}, err
	}
	return ids[0], err
}

// EnqueueBatch stores messages in one transaction of their own: all or none.
// The ids are in the order of the messages.
func (o *Outbox) EnqueueBatch(ctx context.Context, msgs []Message) ([]MessageID, error) {
	if err := engine.CheckOutside(ctx, o.db, nil, "EnqueueTx"); err != nil {
		return nil, err
	}
	if len(o.opts.MaxBacklog) > 0 {
		if err := o.admit(ctx, msgs); err != nil {
			return nil, err
		}
	}
	b, err := o.batch(ctx, nil, msgs, 0)
	if err != nil || len(msgs) == 0 {
		return nil, err
	}
	err = o.groupOf(b).Do(ctx, b)
	if errors.Is(err, coalesce.ErrUnderWay) {
		err = errors.Join(engine.ErrCommitUnknown, err)
	}
	if err != nil {
		if !errors.Is(err, engine.ErrCommitUnknown) {
			return nil, err
		}
		return b.IDs(), err
	}
	return b.finish(ctx), nil
}

// groupOf returns the group in which a call shares transactions. Those with unique keys have one
// of their own: they may wait for a transaction that holds a key, and others must not.
func (o *Outbox) groupOf(b *batch) *coalesce.Group[*batch] {
	if slices.ContainsFunc(b.entries, (*entry).keyed) {
		return &o.uniques
	}
	return &o.enqueues
}

// EnqueueTx stores a message in the caller's transaction, which decides whether
// it ever was: pawl neither commits nor rolls back. Any isolation level will do; under
// repeatable read and serializable it can fail with pawl.ErrSerialization where
// somebody else stored the same Message.ID, or was the first to use the queue, since
// the transaction's first statement.
func (o *Outbox) EnqueueTx(ctx context.Context, tx any, m Message) (MessageID, error) {
	ids, err := o.EnqueueBatchTx(ctx, tx, []Message{m})
	if err != nil {
		return MessageID{}, err
	}
	return ids[0], nil
}

// EnqueueBatchTx stores messages in the caller's transaction. For isolation levels see EnqueueTx.
func (o *Outbox) EnqueueBatchTx(ctx context.Context, tx any, msgs []Message) ([]MessageID, error) {
	own, err := engine.TxOf(o.db, tx)
	if err != nil {
		return nil, err
	}
	if len(o.opts.MaxBacklog) > 0 {
		if err := o.admit(ctx, msgs); err != nil {
			return nil, err
		}
	}
	b, err := o.batch(ctx, own, msgs, 0)
	if err != nil || len(msgs) == 0 {
		return nil, err
	}
	if err := engine.Run(ctx, o.db, own, o.enqueueCalls(b.entries, b.generation)...); err != nil {
		return nil, err
	}
	return b.finish(ctx), nil
}

// batch is messages that are ready to be written: validated, with their ids.
type batch struct {
	o                 *Outbox
	entries           []*entry
	generation        int64 // of the database, when they got their positions
	calls             []*engine.Call
	storedByComponent bool // stored by the component, no messages yet
}

// batch validates messages and sets their ids; see queue.Queue.
func (o *Outbox) batch(ctx context.Context, tx Tx, msgs []Message, own int) (*batch, error) {
	b, err := o.prepare(o.withHeaders(ctx, msgs), own)
	if err != nil || len(msgs) == 0 {
		return b, err
	}
	if err := o.identify(ctx, tx, b); err != nil {
		return nil, err
	}
	for _, en := range b.entries {
		if en.msg.extras == nil || en.msg.extras.payload == nil {
			continue
		}
		if err := en.fill(ctx, tx, o.opts.MaxPayload); err != nil {
			return nil, err
		}
	}
	if tx != nil {
		o.refreshLanes(ctx, b.entries)
	}
	return b, nil
}

// fill makes the payload that depends on the id, in a copy: the message may be the caller's.
func (en *entry) fill(ctx context.Context, tx Tx, most int) (err error) {
	m := *en.msg
	if m.Payload, err = m.extras.payload(ctx, tx, en.mid); err != nil {
		return err
	}
	if len(m.Payload) > most {
		return engine.TooLong("payload", most, "bytes")
	}
	en.msg = &m
	return nil
}

// Calls returns the calls that write the messages; each may run in a caller's transaction.
func (b *batch) Calls() []*engine.Call {
	if b.calls == nil && len(b.entries) > 0 {
		b.calls = b.o.enqueueCalls(b.entries, b.generation)
	}
	return b.calls
}

// IDs returns the ids with which the messages are to be stored, in their order.
func (b *batch) IDs() []MessageID {
	ids := make([]MessageID, len(b.entries))
	for i, en := range b.entries {
		ids[i] = en.mid
	}
	return ids
}

// Positions returns the messages' positions in their order. A message whose supplied id is known
// has another one already.
func (b *batch) Positions() []int64 {
	ids := make([]int64, len(b.entries))
	for i, en := range b.entries {
		ids[i] = en.id
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
		part = slices.SortedFunc(slices.Values(part), func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
		index := make([]int, len(part))
		for i, en := range part {
			index[i] = en.index
		}
		c := engine.Ask(keep(newMessages(part), index))
		c.Generation = b.generation
		b.calls = append(b.calls, c)
	}
	return b.calls
}

// Generation returns the database's generation when the messages got their positions.
func (b *batch) Generation() int64 { return b.generation }

// Ran is to be called when the calls have run, in tx or, if that is nil, in a transaction that has
// committed: then it records the lanes that were registered and notifies this process's workers.
// It logs the messages.
func (b *batch) Ran(ctx context.Context, tx Tx) {
	if tx == nil {
		b.o.lanes.committed(b.calls)
	}
	if b.storedByComponent {
		return
	}
	if tx == nil {
		b.o.wake(b.entries)
	}
	b.o.notifyEnqueued(ctx, b.entries)
}

// finish is to be called when the messages are written. It returns their ids, for duplicates those of
// the earlier messages, and tells the callers which these are. The others are logged and observed.
func (b *batch) finish(ctx context.Context) []MessageID {
	ids, written, duplicates := b.IDs(), b.entries, 0
	for i, en := range b.entries {
		duplicate := !en.earlier.IsZero()
		if u := en.msg.Unique; u != nil && u.Duplicate != nil {
			*u.Duplicate = duplicate
		}
		if duplicate {
			ids[i] = en.earlier
			duplicates++
		}
	}
	if duplicates > 0 {
		written = slices.DeleteFunc(slices.Clone(written), func(en *entry) bool { return !en.earlier.IsZero() })
	}
	b.o.notifyEnqueued(ctx, written)
	return ids
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
