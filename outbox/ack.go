package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// ErrLeaseLost is the cause (context.Cause) with which a handler's context ends when another worker may have
// its message, and the error of AckTx then.
var ErrLeaseLost = worker.ErrLeaseLost

// errNotCommitted fails an attempt whose handler returned nil.
var errNotCommitted = errors.New("the transaction of AckTx was not committed")

// AckTx acks the message of a handler in the handler's transaction of pawl's database: what that
// writes takes effect and the message is done, with the result that SetResult has set, or neither.
// So a handler of this database has its effect exactly once. It commits, and returns nil. If it did not commit the
// attempt fails, whatever it returns; after a commit an error is only logged.
//
// Call it last: until the transaction ends, heartbeats of this process wait for it, and on SQLite all that
// writes. tx is as for EnqueueTx; on PostgreSQL it has to be read committed, or the error is pawl.ErrIsolation. Other
// errors: ErrLeaseLost, with which the transaction must not commit; pawl.ErrInvalid for a message that no handler has.
func (o *Outbox) AckTx(ctx context.Context, tx any, m *Message) error {
	own, err := engine.TxOf(o.db, tx)
	if err != nil {
		return err
	}
	if m.Owner == (OwnerToken{}) {
		return engine.Invalid("message", "no handler has it")
	}
	ack := component{o}.AckCall(m)
	if err := engine.Run(ctx, o.db, own, ack); err != nil {
		return err
	}
	if ack.N == 0 {
		return fmt.Errorf("%w: message %s", ErrLeaseLost, m.ID)
	}
	m.ensureExtras().acked = true
	return nil
}

// ackedItself returns what the loop is told of a message for which its handler called AckTx.
func (o *Outbox) ackedItself(ctx context.Context, m *Message, err error) error {
	ctx, cancel := engine.Detach(ctx, engine.Grace)
	defer cancel()
	acked := engine.Ask(op.OutboxAcked{ID: int64(m.Position), Owner: m.Owner})
	switch failed := engine.ReadAll(ctx, o.db, acked); {
	case failed != nil && err == nil:
		return failed // if it is acked nothing is held: this changes nothing
	case acked.N == 0 && err == nil:
		return errNotCommitted
	case acked.N == 0:
		return err
	case err != nil:
		o.log.WarnContext(ctx, "a handler failed after it had acked its message", "topic", m.Topic, "message_id", m.ID.String(), "error", err)
	}
	o.settled(&worker.Settlement{Acks: []worker.Held{{Owner: m.Owner, ID: int64(m.Position)}}})
	return worker.ErrSettled
}
