package flow

import (
	"context"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// StepOptions configure a step. The zero value takes the flow's.
type StepOptions struct {
	// Retry replaces Settings.Retry.
	Retry *outbox.RetryPolicy
	// Timeout ends the context of one execution; 0 means none.
	Timeout time.Duration
}

// context returns the context of one execution.
func (o *StepOptions) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Timeout > 0 {
		return context.WithTimeout(ctx, o.Timeout)
	}
	return context.WithCancel(ctx)
}

// Step runs fn, and stores what it returns: from then on it returns that, without a call of fn. fn runs
// at least once; give Run.Key(name) to a service that can recognize what it has done.
//
// Each call in a run has a name of its own, which identifies the step if the program changes. A name that
// comes again is numbered, in the order of the calls. An error has fn tried again later by the retry
// policy, without the steps before it. When no attempt is left, or after Final, Step returns a *StepError, from
// then on too. Other errors: ErrSuspended, ErrCancelled, ErrTooLarge, ErrTooMany.
func Step[T any](f *Run, name string, fn func(ctx context.Context) (T, error), opts ...StepOptions) (out T, err error) {
	err = f.step(name, opts, &out, func(ctx context.Context, s *op.FlowStep, o StepOptions) error {
		v, err := fn(ctx)
		if err == nil {
			s.Result, err = f.encode(f.id, v)
		}
		if err != nil {
			return f.failed(s.Name, o.Retry, err)
		}
		return f.keep(s)
	})
	return out, err
}

// StepTx runs fn in a transaction of pawl's database, in which the step is stored as done: what fn writes
// through tx takes effect exactly once, and only while this attempt holds the flow. tx is a *sql.Tx on
// SQLite, and on PostgreSQL postgres.Pgx unwraps the pgx.Tx. Use it for everything, StartTx and EnqueueTx
// included: on SQLite nothing else can write until fn returns. Errors are as for Step.
func StepTx(f *Run, name string, fn func(ctx context.Context, tx outbox.Tx) error, opts ...StepOptions) error {
	return f.step(name, opts, nil, func(ctx context.Context, s *op.FlowStep, o StepOptions) error { return f.runTx(ctx, s, o.Retry, fn) })
}

// step returns what is stored of a step, or runs it.
func (f *Run) step(name string, opts []StepOptions, out any, run func(ctx context.Context, s *op.FlowStep, o StepOptions) error) error {
	o, err := engine.Option(opts)
	if err != nil {
		return err
	}
	key, row, err := f.reach(name)
	if err == nil && row == nil {
		err = f.begin()
	}
	if err != nil {
		return err
	}
	if row == nil {
		err := f.observe(key, func(ctx context.Context) error {
			ctx, cancel := o.context(ctx)
			defer cancel()
			return run(ctx, &op.FlowStep{Name: key, Kind: op.FlowDone}, o)
		})
		if err != nil {
			return err
		}
		row = f.ended(key)
	}
	switch {
	case row.Kind == op.FlowFailed:
		return &StepError{Step: key, Reason: string(row.Result)}
	case out == nil:
		return nil
	}
	return f.decode(f.id, row.Result, out) // what ran just now as well: a type that loses something does so at once
}

// observe runs a step, of which it notifies observers.
func (f *Run) observe(key string, run func(ctx context.Context) error) (err error) {
	ctx, end := f.flows.observers.Step(f.ctx, worker.Step{Topic: f.spec.topic, Name: key, Attempt: f.m.RetryCount - f.base + 1})
	f.cause, err = nil, ErrSuspended // if it panics
	defer func() {
		outcome := worker.StepRetried
		switch row := f.ended(key); {
		case row != nil:
			outcome = op.FlowStates().Word(int64(row.Kind))
		case err == nil: // a part
			outcome = op.FlowStates().Word(op.FlowDone)
		case errors.Is(context.Cause(f.ctx), ErrCancelled):
			outcome = worker.StepCancelled
		case worker.IsPermanent(err):
			outcome = op.FlowStates().Word(op.FlowFailed)
		}
		end(outcome, f.cause)
	}()
	return run(ctx)
}

// failed has a step run again later or, if no attempt is left, stores that it failed.
func (f *Run) failed(key string, retry *outbox.RetryPolicy, err error) error {
	f.cause = err
	answer, again := f.again(f.policy(retry), err)
	if again {
		return f.suspend(answer)
	}
	return f.keep(&op.FlowStep{Name: key, Kind: op.FlowFailed, Result: []byte(worker.ErrorText(err.Error()))})
}

// runTx runs fn in a transaction, and stores the step at its end: the message is locked as shortly as
// can be, because heartbeats wait for it.
func (f *Run) runTx(ctx context.Context, s *op.FlowStep, retry *outbox.RetryPolicy, fn func(ctx context.Context, tx outbox.Tx) error) error {
	if err := f.number(s); err != nil {
		return err
	}
	var fault error // fn's
	err := engine.Retry(ctx, func() error {
		return f.flows.db.InTx(ctx, func(ctx context.Context, tx outbox.Tx) error {
			if fault = fn(ctx, tx); fault != nil {
				return fault
			}
			keep := engine.Ask(op.FlowKeep{Steps: []op.FlowStep{*s}})
			if err := f.flows.db.DoTx(ctx, tx, keep); err != nil {
				return err
			}
			if keep.N == 0 {
				return errLost
			}
			return nil
		})
	})
	if fault != nil && err != nil && !errors.Is(err, errLost) {
		return f.failed(s.Name, retry, err)
	}
	return f.kept(s, err)
}

// undo is what makes a step's effect undone.
type undo struct {
	name string
	fn   func(ctx context.Context) error
}

// Undo registers what undoes a step: call it behind the step. When the flow fails for good, or is cancelled,
// what was registered runs in reverse order, each as a step of its own. One that fails for good keeps
// none of the others from running.
func (f *Run) Undo(name string, fn func(ctx context.Context) error) {
	if f.stop == nil && f.part == "" {
		f.undos = append(f.undos, undo{name, fn})
	}
}

// OnDone registers what runs when the function has returned without an error, in one transaction of
// pawl's database, exactly once: it may enqueue what comes next. Several run in the order in which they were registered.
func (f *Run) OnDone(fn func(ctx context.Context, tx outbox.Tx) error) {
	f.onDone = append(f.onDone, fn)
}
