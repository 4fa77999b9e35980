package inbox

import (
	"context"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/outbox"
)

// Status is the state of a message.
type Status string

// The states of a message, named as in the seed.
const (
	Seen       Status = "Seen"       // known, to be processed
	Processing Status = "Processing" // an attempt is under way
	Done       Status = "Done"
	Dead       Status = "Dead" // its attempts are used up; see Revive
)

// AlreadyProcessed records a delivery and reports whether the message is done. It is no lock:
// two concurrent deliveries both get false, so prefer Once. Errors: ErrHashMismatch, and ErrDead
// for a dead message.
func (i *Inbox) AlreadyProcessed(ctx context.Context, k Key) (bool, error) {
	return i.AlreadyProcessedTx(ctx, engine.OwnTx{}, k)
}

// AlreadyProcessedTx is AlreadyProcessed in the caller's transaction, which holds
// the message until it ends: of two at once the second waits for the first.
// Any isolation level will do; under repeatable read and serializable it fails with
// pawl.ErrSerialization if somebody else changed the message since the transaction's
// first statement.
func (i *Inbox) AlreadyProcessedTx(ctx context.Context, tx any, k Key) (bool, error) {
	own, err := engine.TxFor(ctx, i.db, tx, "AlreadyProcessedTx")
	if err != nil {
		return false, err
	}
	if err := k.validate(); err != nil {
		return false, err
	}
	verdict, err := engine.Exec(ctx, i.db, own, op.InboxSee{InboxKey: k.op(), Hash: k.hash()})
	if err != nil || verdict == verdictInProgress { // that only means that it is not done
		return false, err
	}
	return verdict == verdictDone, errorOf(&k, verdict)
}

// MarkProcessing records that an attempt begins, which counts. It returns false for a message
// that was never seen, or is done or dead: those states are final.
func (i *Inbox) MarkProcessing(ctx context.Context, k Key) (bool, error) {
	return i.mark(ctx, nil, k, Processing)
}

// MarkProcessed marks a message as done. See MarkProcessing for the result.
func (i *Inbox) MarkProcessed(ctx context.Context, k Key) (bool, error) {
	return i.MarkProcessedTx(ctx, engine.OwnTx{}, k)
}

// MarkProcessedTx is MarkProcessed in the caller's transaction.
// Any isolation level will do; under repeatable read and serializable it fails with
// pawl.ErrSerialization if somebody else changed the message since the transaction's
// first statement.
func (i *Inbox) MarkProcessedTx(ctx context.Context, tx any, k Key) (bool, error) {
	own, err := engine.TxFor(ctx, i.db, tx, "MarkProcessedTx")
	if err != nil {
		return false, err
	}
	return i.mark(ctx, own, k, Done)
}

// MarkDead marks a message as dead. See MarkProcessing for the result.
func (i *Inbox) MarkDead(ctx context.Context, k Key) (bool, error) {
	return i.mark(ctx, nil, k, Dead)
}

func (i *Inbox) mark(ctx context.Context, tx outbox.Tx, k Key, s Status) (bool, error) {
	if err := k.validate(); err != nil {
		return false, err
	}
	n, err := engine.Exec(ctx, i.db, tx, op.InboxMark{InboxKey: k.op(), Status: string(s)})
	return err == nil && n > 0, err
}

// Revive resets a dead message: its next delivery is processed, and one that was enqueued is
// handled again at once. It returns false for a message that is not dead. It is recorded in the
// audit trail, see admin.WithActor.
func (i *Inbox) Revive(ctx context.Context, k Key) (bool, error) {
	if err := k.validate(); err != nil {
		return false, err
	}
	revive := op.InboxRevive{InboxKey: k.op(), QueuedAs: messageID(&k), Note: audit.New(ctx, "inbox "+k.String()).Op()}
	if n, err := engine.Exec(ctx, i.db, nil, revive); err != nil || n == 0 {
		return false, err
	}
	i.log.InfoContext(ctx, "dead message revived", "source", k.Source, "source_message_id", k.MessageID)
	return true, nil
}
