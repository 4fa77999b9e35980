package inbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Once runs fn for a message unless it was processed before, in a transaction that also marks it
// as done: what fn writes through tx takes effect exactly once. It returns nil if fn succeeded
// now or the message is done already: in both cases the delivery can be confirmed to its sender.
//
// tx is a *sql.Tx on SQLite; on PostgreSQL postgres.Pgx unwraps the pgx.Tx. Use it for
// everything, EnqueueTx included: on SQLite there can be no other writer until fn returns. fn
// may be called again after a transient failure of the transaction; only the last call's writes
// stay. Effects outside the database happen at least once.
//
// Errors: fn's own, after which the attempt is counted and the message may be
// delivered again (outbox.Permanent makes it dead at once, joined with ErrDead);
// ErrInProgress, ErrDead, ErrHashMismatch; pawl.ErrCommitUnknown, after which a
// second delivery finds out.
func (i *Inbox) Once(ctx context.Context, k Key, fn func(ctx context.Context, tx outbox.Tx) error) error {
	if err := engine.CheckOutside(ctx, i.db, nil, "OnceTx"); err != nil {
		return err
	}
	if err := k.validate(); err != nil {
		return err
	}
	var verdict int64
	var fault error // fn's
	err := engine.Retry(ctx, func() error {
		return i.db.InTx(ctx, func(ctx context.Context, tx outbox.Tx) error {
			// Nobody but this function commits, so the mark can come first: that is one
			// statement, where marking at the end takes two and writes the row twice.
			take := engine.Ask(op.InboxTakeDone{InboxKey: k.op(), Hash: k.hash()})
			if err := i.db.DoTx(ctx, tx, take); err != nil {
				return err
			}
			verdict, fault = take.N, nil
			if i.logDelivery(ctx, &k, verdict); verdict == verdictTaken {
				fault = fn(ctx, tx)
			}
			return fault
		})
	})
	switch {
	case err == nil:
		return errorOf(&k, verdict)
	case fault != nil && ctx.Err() == nil: // cancelled by the caller: no failure
		return errors.Join(err, i.failed(ctx, &k, nil, err))
	}
	return err
}

// within takes a message in a caller's transaction, runs fn and then marks the message as done:
// the caller might commit although fn failed. A result other
// than taken means that only the delivery was recorded.
func (i *Inbox) within(ctx context.Context, tx outbox.Tx, k *Key, fn func(ctx context.Context) error) (verdict int64, err error) {
	take := engine.Ask(op.InboxTake{InboxKey: k.op(), Hash: k.hash(), MaxAttempts: i.retry.MaxAttempts, Resumes: i.resumes})
	if err := i.db.DoTx(ctx, tx, take); err != nil {
		return take.N, err
	}
	if i.logDelivery(ctx, k, take.N); take.N != verdictTaken {
		return take.N, nil
	}
	if err := fn(ctx); err != nil {
		return take.N, err
	}
	return take.N, i.db.DoTx(ctx, tx, engine.Ask(op.InboxDone{InboxKey: k.op()}))
}

// OnceTx is Once in the caller's transaction: fn's writes, the caller's and the
// mark commit together. ran is false if the message is done already. When fn or
// anything else fails, roll back; then nothing happened, and no attempt is
// counted: call Failed for that.
// Any isolation level will do; under repeatable read and serializable it fails with
// pawl.ErrSerialization if somebody else changed the message since the transaction's
// first statement.
func (i *Inbox) OnceTx(ctx context.Context, tx any, k Key, fn func(ctx context.Context) error) (ran bool, err error) {
	own, err := engine.TxOf(i.db, tx)
	if err != nil {
		return false, err
	}
	if err := k.validate(); err != nil {
		return false, err
	}
	verdict, err := i.within(ctx, own, &k, func(ctx context.Context) error {
		ran = true
		inside, end := engine.InsideTx(ctx, i.db)
		defer end()
		return fn(inside)
	})
	if err != nil {
		return ran, err
	}
	return ran, errorOf(&k, verdict)
}

// MarkFailed counts a failed attempt at a message whose transaction was rolled back. It returns
// whether that made the message dead: its attempts are used up, or err is outbox.Permanent.
func (i *Inbox) MarkFailed(ctx context.Context, k Key, err error) (dead bool, _ error) {
	if err := k.validate(); err != nil {
		return false, err
	}
	call := i.failCall(&k, nil, err)
	if err := i.db.Do(ctx, call); err != nil {
		return false, err
	}
	return call.N == failedDead, nil
}

// failedDead is the result of inbox/fail for a message that is dead now.
const failedDead = 2

func (i *Inbox) failCall(k *Key, token *[16]byte, cause error) *engine.Call {
	text := worker.ErrorText(fmt.Sprint(cause))
	return engine.Ask(op.InboxFail{InboxKey: k.op(), Hash: k.hash(), Token: token, Error: text, Final: worker.IsPermanent(cause), MaxAttempts: i.retry.MaxAttempts})
}

// failed counts a failed attempt and reports whether that was the last.
func (i *Inbox) failed(ctx context.Context, k *Key, token *[16]byte, cause error) error {
	ctx, cancel := engine.Detach(context.WithoutCancel(ctx), i.opts.Lease)
	defer cancel()
	call := i.failCall(k, token, cause)
	if err := i.db.Do(ctx, call); err != nil {
		return fmt.Errorf("count the failed attempt at %s: %w", k, err)
	}
	if call.N == failedDead {
		i.log.ErrorContext(ctx, "message is dead", "source", k.Source, "source_message_id", k.MessageID, "error", engine.Line(worker.ErrorText(cause.Error())))
		return fmt.Errorf("%w: %s", ErrDead, k)
	}
	return nil
}
