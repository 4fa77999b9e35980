package join

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/outbox"
)

// Attach makes messages members of a join: all of them or, if one is unknown, none. One that is
// done or failed already counts at once. Attaching twice changes nothing. Errors: ErrNotFound,
// outbox.ErrNotFound, pawl.ErrInvalid for a wait of the join itself.
func (j *Joins) Attach(ctx context.Context, id ID, messages ...outbox.MessageID) error {
	return j.AttachTx(ctx, engine.OwnTx{}, id, messages...)
}

// AttachTx is Attach in the caller's transaction. Until that ends it keeps
// workers from claiming or settling the messages, so keep it short.
// The transaction has to be read committed: on PostgreSQL any other fails
// with pawl.ErrIsolation.
func (j *Joins) AttachTx(ctx context.Context, tx any, id ID, messages ...outbox.MessageID) error {
	own, err := engine.TxFor(ctx, j.db, tx, "AttachTx")
	if err != nil {
		return err
	}
	if len(messages) == 0 {
		return nil
	}
	c := attachCall(id, messages)
	if err := engine.Run(ctx, j.db, own, c); err != nil {
		return err
	}
	return attached(c, id, messages)
}

func attachCall(id ID, messages []outbox.MessageID) *engine.Call {
	return engine.Ask(op.JoinAttach{JoinID: id, MessageIDs: bare(messages)})
}

// attached converts the result of an attach.
func attached(c *engine.Call, id ID, messages []outbox.MessageID) error {
	switch {
	case c.N == 0:
		return nil
	case c.N == 1:
		return notFound(id)
	}
	if i := int(c.N) - 2 - len(messages); i >= 0 {
		return engine.Invalid(fmt.Sprintf("messages[%d]", i), "%s is a wait of join %s, which would wait for itself", messages[i], id)
	}
	return fmt.Errorf("attach to join %s: %w: %s", id, outbox.ErrNotFound, messages[c.N-2])
}

// ReportCompleted counts a member as completed by hand. The ack of its message does so by itself:
// reports are for steps that end in another way. The first of the two counts; it returns whether
// this call did. Errors: ErrNotFound, ErrNotMember.
func (j *Joins) ReportCompleted(ctx context.Context, id ID, message outbox.MessageID) (bool, error) {
	return j.report(ctx, engine.OwnTx{}, id, message, Completed)
}

// ReportCompletedTx is ReportCompleted in the caller's transaction.
// The transaction has to be read committed: on PostgreSQL any other fails
// with pawl.ErrIsolation.
func (j *Joins) ReportCompletedTx(ctx context.Context, tx any, id ID, message outbox.MessageID) (bool, error) {
	return j.report(ctx, tx, id, message, Completed)
}

// ReportFailed counts a member as failed by hand; see ReportCompleted.
func (j *Joins) ReportFailed(ctx context.Context, id ID, message outbox.MessageID) (bool, error) {
	return j.report(ctx, engine.OwnTx{}, id, message, Failed)
}

// ReportFailedTx is ReportFailed in the caller's transaction.
// The transaction has to be read committed: on PostgreSQL any other fails
// with pawl.ErrIsolation.
func (j *Joins) ReportFailedTx(ctx context.Context, tx any, id ID, message outbox.MessageID) (bool, error) {
	return j.report(ctx, tx, id, message, Failed)
}

func (j *Joins) report(ctx context.Context, given any, id ID, message outbox.MessageID, s Status) (bool, error) {
	right := "ReportCompletedTx"
	if s == Failed {
		right = "ReportFailedTx"
	}
	tx, err := engine.TxFor(ctx, j.db, given, right)
	if err != nil {
		return false, err
	}
	n, err := engine.Exec(ctx, j.db, tx, op.JoinReport{JoinID: id, MessageID: message, Status: s.number()})
	if err != nil {
		return false, err
	}
	switch n {
	case 0:
		return false, notFound(id)
	case 3:
		return false, fmt.Errorf("%w: message %s, join %s", ErrNotMember, message, id)
	}
	return n == 1, nil
}
