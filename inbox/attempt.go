package inbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Attempt runs fn for a message unless it was processed before, without a transaction: for
// effects outside the database, or that take long. The message is held by a lease that is
// extended while fn runs; fn's context ends, with ErrTakenOver as its cause, when the lease is
// lost. After a crash between fn's effect and the mark the message is processed again, so the
// effect should be idempotent. For the rest see Once.
func (i *Inbox) Attempt(ctx context.Context, k Key, fn func(ctx context.Context) error) error {
	if err := k.validate(); err != nil {
		return err
	}
	token := [16]byte(uuid.New())
	lease := i.opts.Lease
	sent := time.Now()
	take := engine.Ask(op.InboxTake{InboxKey: k.op(), Hash: k.hash(), Token: &token, Lease: &lease, MaxAttempts: i.retry.MaxAttempts, Resumes: i.resumes})
	if err := engine.CheckOutside(ctx, i.db, nil, "OnceTx"); err != nil {
		return err
	}
	if err := i.db.Do(ctx, take); err != nil {
		return err
	}
	if i.logDelivery(ctx, &k, take.N); take.N != verdictTaken {
		return errorOf(&k, take.N)
	}
	if err := i.held(ctx, &k, &token, sent, fn); err != nil {
		return errors.Join(err, i.putBack(ctx, &k, &token, err))
	}
	ctx, cancel := engine.Detach(context.WithoutCancel(ctx), i.opts.Lease)
	defer cancel()
	done := engine.Ask(op.InboxDone{InboxKey: k.op(), Token: &token})
	if err := i.db.Do(ctx, done); err != nil {
		return err
	}
	if done.N == 0 {
		return fmt.Errorf("%w: %s", ErrTakenOver, &k)
	}
	return nil
}

// putBack puts a message back after a failed attempt. One that was cancelled by its caller, or
// snoozed, is not counted.
func (i *Inbox) putBack(ctx context.Context, k *Key, token *[16]byte, cause error) error {
	if ctx.Err() == nil && !worker.IsSnooze(cause) {
		return i.failed(ctx, k, token, cause)
	}
	ctx, cancel := engine.Detach(context.WithoutCancel(ctx), i.opts.Lease)
	defer cancel()
	return i.db.Do(ctx, engine.Ask(op.InboxRelease{InboxKey: k.op(), Token: *token}))
}

// held runs fn while a heartbeat extends the message's lease, unless that is over already. A panic
// of fn is not recovered.
func (i *Inbox) held(ctx context.Context, k *Key, token *[16]byte, sent time.Time, fn func(ctx context.Context) error) error {
	if time.Since(sent) >= i.opts.Lease {
		return fmt.Errorf("%w: %s", ErrTakenOver, k)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var beat sync.WaitGroup
	beat.Go(func() { i.heartbeat(ctx, cancel, k, token, sent) })
	defer beat.Wait()
	defer cancel(nil)
	return fn(ctx)
}

// heartbeat extends the lease every third of it until ctx ends. After a failure it tries again
// until the lease has expired by this process's clock, counted from before the request (D-62):
// then, or when the database reports it, the message is lost.
func (i *Inbox) heartbeat(ctx context.Context, cancel context.CancelCauseFunc, k *Key, token *[16]byte, sent time.Time) {
	lost := func() { cancel(fmt.Errorf("%w: %s", ErrTakenOver, k)) }
	expiry := time.AfterFunc(time.Until(sent.Add(i.opts.Lease)), lost)
	defer expiry.Stop()
	for next := sent.Add(i.opts.Lease / 3); engine.Sleep(ctx, engine.Jitter(time.Until(next), 0.1)) == nil; {
		sent := time.Now()
		call := engine.Ask(op.InboxExtend{InboxKey: k.op(), Token: *token, Lease: i.opts.Lease})
		switch err := i.db.Do(ctx, call); {
		case err != nil:
			next = time.Now().Add(min(i.opts.Lease/10, time.Second))
		case call.N == 0:
			lost()
		default:
			expiry.Reset(time.Until(sent.Add(i.opts.Lease)))
			next = sent.Add(i.opts.Lease / 3)
		}
	}
}
