package outbox

import (
	"context"
	"errors"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/coalesce"
)

// Tx is a transaction as functions with one of pawl's own get it. Calls take *sql.Tx, pgx.Tx
// and what wraps them as they are; what is no transaction is pawl.ErrNotInTransaction.
type Tx = engine.Tx

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
	e, err := o.prepare(o.withHeaders(ctx, msgs), 0)
	if err != nil || len(msgs) == 0 {
		return nil, err
	}
	if err := o.identify(ctx, nil, e); err != nil {
		return nil, err
	}
	err = o.groupOf(e).Do(ctx, e)
	if errors.Is(err, coalesce.ErrUnderWay) {
		err = errors.Join(engine.ErrCommitUnknown, err)
	}
	if err != nil {
		if !errors.Is(err, engine.ErrCommitUnknown) {
			return nil, err
		}
		return e.ownIDs(), err
	}
	e.reportDuplicates()
	o.notifyEnqueued(ctx, e.written())
	return e.ids(), nil
}

// groupOf returns the group in which a call shares transactions. Those with unique keys have one
// of their own: they may wait for a transaction that holds a key, and others must not.
func (o *Outbox) groupOf(e *enqueueCall) *coalesce.Group[*enqueueCall] {
	if slices.ContainsFunc(e.entries, (*entry).keyed) {
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
	b, err := o.batch(ctx, own, msgs, 0)
	if err != nil || len(msgs) == 0 {
		return nil, err
	}
	if err := engine.Run(ctx, o.db, own, b.Calls()...); err != nil {
		return nil, err
	}
	b.Ran(ctx, own)
	b.reportDuplicates()
	return b.IDs(), nil
}
