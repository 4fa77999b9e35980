package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// continueError is what Continue returns.
type continueError struct{ body any }

func (*continueError) Error() string { return "the flow continues as another run" }

// Continue returns an error for the function to return: the run is done, and another one of the same flow
// begins with a body of its own, and no steps. Use it where a run would have too many. Await follows it.
func Continue[I any](_ *Run, in I) error { return &continueError{in} }

// end ends the attempt when the function has returned.
func (f *Run) end(out any, err error) error {
	var (
		next *continueError
		step *StepError
	)
	switch {
	case f.suspended:
		return f.answer
	case f.ending != nil:
		return f.undo()
	case f.stop != nil:
		err = f.stop
	case errors.As(err, &next):
		return f.succeed(next.body)
	case errors.As(err, &step):
		err = Final(err) // the function would come to it again
	case err == nil:
		return f.finish(out)
	}
	answer, again := f.again(f.policy(nil), err)
	if again {
		return answer
	}
	if err := f.fail(err, 0); err != nil {
		return err
	}
	return f.undo()
}

// succeed begins the run that follows this one.
func (f *Run) succeed(body any) error {
	m := outbox.Message{ID: derived(f.m.ID, continued), CorrelationID: f.m.CorrelationID, Headers: f.m.Headers}
	_, err := f.flows.outbox.Enqueue(f.ctx, f.spec.message(body, m))
	return err
}

// finish does what is registered for the end, and sets the result.
func (f *Run) finish(out any) error {
	if err := f.setResult(out); err != nil {
		return f.end(out, err)
	}
	if len(f.onDone) == 0 || f.steps[mark{done, op.FlowDone}] != nil {
		return nil
	}
	err := f.runTx(f.ctx, &op.FlowStep{Name: done, Kind: op.FlowDone}, nil, func(ctx context.Context, tx outbox.Tx) error {
		for _, fn := range f.onDone {
			if err := fn(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return f.answer
	case f.steps[mark{done, op.FlowFailed}] != nil:
		return f.end(out, Final(errors.New(string(f.steps[mark{done, op.FlowFailed}].Result))))
	}
	return nil
}

// undo undoes the effects of a flow that has failed, or is cancelled, and then ends its message.
func (f *Run) undo() error {
	f.stop = nil
	result := f.ending
	for i := len(f.undos) - 1; i >= 0; i-- {
		u := &f.undos[i]
		f.names[u.name+undoing]++
		key := u.name + undoing
		if n := f.names[key]; n > 1 {
			key = fmt.Sprintf("%s%s%d%s", u.name, own, n, undoing)
		}
		if f.ended(key) == nil {
			if err := f.runUndo(key, u); err != nil {
				return f.answer
			}
		}
		if row := f.ended(key); row.Kind == op.FlowFailed {
			result = fmt.Errorf("%w; undo of %q: %s", result, u.name, row.Result)
		}
	}
	return endMessage(result)
}

// endMessage returns the answer that ends a message with err: as discarded if it was cancelled, otherwise as failed.
func endMessage(err error) error {
	if errors.Is(err, ErrCancelled) {
		return worker.Cancelled(err.Error())
	}
	return worker.Permanent(err)
}

func (f *Run) runUndo(key string, u *undo) error {
	return f.observe(key, func(ctx context.Context) error {
		if err := u.fn(ctx); err != nil {
			return f.failed(key, nil, err)
		}
		return f.keep(&op.FlowStep{Name: key, Kind: op.FlowDone})
	})
}
