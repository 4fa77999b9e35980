package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// All runs fn for every item, each as a message of its own that any worker of the flow may handle, and
// returns the results in the order of the items, once all have ended. Meanwhile the flow is parked. Each part
// runs the flow's function up to All, with the steps that are stored. fn runs at least once for each item,
// by the retry policy; Timeout bounds each. Items and results have the flow's codec, and 64 KiB for a result.
//
// If parts failed for good All returns a *StepError, beside the results of the others. Other errors:
// ErrSuspended, ErrCancelled, ErrTooMany.
func All[T, R any](f *Run, name string, items []T, fn func(ctx context.Context, item T) (R, error), opts ...StepOptions) ([]R, error) {
	o, err := engine.Option(opts)
	if err != nil {
		return nil, err
	}
	key, _, err := f.reach(name)
	if err != nil {
		return nil, err
	}
	if f.part == key {
		return nil, runPart(f, o, fn)
	}
	if len(items) > maxSteps {
		f.stop = Final(fmt.Errorf("%w parts of step %q", ErrTooMany, key))
		return nil, f.stop
	}
	messages := func() []outbox.Message {
		all := make([]outbox.Message, len(items))
		for i := range items {
			all[i] = f.child(key, i, f.spec, items[i])
			all[i].Headers[op.FlowPart] = key
		}
		return all
	}
	results := make([]R, len(items))
	failed, err := f.fan(key, len(items), f.spec, messages, func(i int) any { return &results[i] })
	if err == nil && failed > 0 {
		err = &StepError{Step: key, Reason: fmt.Sprintf("%d of %d parts failed", failed, len(items))}
	}
	return results, err
}

// Call runs another flow, and returns its result once it has ended. Meanwhile this one is parked. If the other
// one fails for good Call returns a *StepError with its reason. Other errors: ErrSuspended, ErrCancelled.
func Call[I, O any](f *Run, name string, child *Flow[I, O], in I) (out O, err error) {
	key, _, err := f.reach(name)
	if err != nil {
		return out, err
	}
	failed, err := f.fan(key, 1, &child.spec, func() []outbox.Message { return []outbox.Message{f.child(key, 0, &child.spec, in)} }, func(int) any { return &out })
	if err != nil || failed == 0 {
		return out, err
	}
	reason := "failed"
	if info, err := f.flows.outbox.Get(f.ctx, f.childID(key, 0)); err == nil && info.LastError != "" {
		reason = info.LastError
	}
	return out, &StepError{Step: key, Reason: reason}
}

// child returns a message that belongs to a step.
func (f *Run) child(key string, i int, s *spec, body any) outbox.Message {
	return s.message(body, outbox.Message{ID: f.childID(key, i), CorrelationID: cmp.Or(f.m.CorrelationID, f.id.String()), Headers: map[string]string{op.FlowRun: f.id.String()}})
}

func (f *Run) childID(key string, i int) outbox.MessageID {
	return derived(f.id, fmt.Sprintf("%s/%d", key, i))
}

// fan begins messages as the steps of a join, parks the flow until that has ended, and then reads their
// results. It returns how many failed.
func (f *Run) fan(key string, n int, s *spec, messages func() []outbox.Message, into func(i int) any) (failed int, err error) {
	if n == 0 {
		return 0, nil
	}
	id := join.ID(derived(f.id, key))
	info, err := f.flows.joins.Get(f.ctx, id)
	begun := !errors.Is(err, join.ErrNotFound)
	switch {
	case begun && err != nil:
		return 0, f.suspend(err)
	case begun && info.Status != join.Pending:
		return f.results(key, id, n, s, into)
	}
	if err := f.begin(); err != nil {
		if begun && f.ending != nil {
			err = cmp.Or(f.abandon(id), err)
		}
		return 0, err
	}
	if !begun {
		if err := f.start(key, id, messages()); err != nil {
			return 0, err
		}
	}
	if _, err := engine.Exec(f.ctx, f.flows.db, nil, op.JoinPark{JoinID: id, Owner: f.m.Owner, ID: int64(f.m.Position), Flow: true}); err != nil {
		return 0, f.suspend(err)
	}
	return 0, f.suspend(worker.SettledAs(worker.OutcomeSnoozed))
}

// start begins a join. Messages and join have ids that derive from the flow's: a second attempt begins nothing.
func (f *Run) start(key string, id join.ID, messages []outbox.Message) error {
	_, err := f.flows.joins.FanOut(f.ctx, join.Spec{ID: id, GroupingKey: f.id.String(), Metadata: key}, messages, join.Wait{})
	switch {
	case errors.Is(err, engine.ErrInvalid):
		return Final(err)
	case err != nil:
		return f.suspend(err)
	}
	return nil
}

// abandon cancels the messages that a cancelled flow waits for.
func (f *Run) abandon(id join.ID) error {
	for m, err := range f.flows.joins.Members(f.ctx, id, join.MembersOptions{Status: join.Pending}) {
		if err == nil {
			err = f.flows.send(f.ctx, nil, m.MessageID, op.FlowCancel, nil)
		}
		if err != nil && !errors.Is(err, ErrOver) && !errors.Is(err, outbox.ErrNotFound) {
			return f.suspend(err)
		}
	}
	return nil
}

// results reads the results of a join's steps.
func (f *Run) results(key string, id join.ID, n int, s *spec, into func(i int) any) (failed int, err error) {
	index := make(map[outbox.MessageID]int, n)
	for i := range n {
		index[f.childID(key, i)] = i
	}
	for m, err := range f.flows.joins.Members(f.ctx, id, join.MembersOptions{}) {
		if err != nil {
			return 0, f.suspend(err)
		}
		i, ok := index[m.MessageID]
		switch {
		case m.Status != join.Completed:
			failed++
		case ok && len(m.Result) > 0:
			of := Run{ctx: f.ctx, spec: s}
			if err := of.decode(m.MessageID, m.Result, into(i)); err != nil {
				return 0, Final(err)
			}
		}
	}
	return failed, nil
}

// handlePart handles the message of a part: it runs the flow's function up to the step.
func (fl *Flow[I, O]) handlePart(f *Run, step string) error {
	of, err := outbox.ParseMessageID(f.m.Headers[op.FlowRun])
	if err != nil {
		return worker.Permanent(err)
	}
	whole, err := f.flows.outbox.Get(f.ctx, of)
	if errors.Is(err, outbox.ErrNotFound) {
		return worker.Permanent(err)
	}
	if err != nil {
		return err
	}
	f.id, f.part = of, step
	if err := f.load(int64(whole.Position)); err != nil {
		return err
	}
	f.base = 0 // the attempts are the part's
	if f.ending != nil {
		return endMessage(fmt.Errorf("%w: %w", ErrOver, f.ending))
	}
	if _, err = fl.call(f, whole.Payload); f.suspended {
		return f.answer
	}
	if err == nil {
		err = fmt.Errorf("the flow's function does not come to step %q", step)
	}
	answer, _ := f.again(f.policy(nil), err)
	return answer
}

// runPart runs the part that a message is for, and ends its attempt.
func runPart[T, R any](f *Run, o StepOptions, fn func(ctx context.Context, item T) (R, error)) error {
	return f.suspend(f.observe(f.part, func(ctx context.Context) error {
		ctx, cancel := o.context(ctx)
		defer cancel()
		var item T
		err := f.decode(f.m.ID, f.m.Payload, &item)
		if err == nil {
			var v R
			if v, err = fn(ctx, item); err == nil {
				err = f.setResult(v)
			}
		}
		if f.cause = err; err == nil {
			return nil
		}
		answer, _ := f.again(f.policy(o.Retry), err)
		return answer
	}))
}

// setResult sets the result of the message that is handled.
func (f *Run) setResult(v any) error {
	data, err := f.encode(f.m.ID, v)
	if err == nil && f.m.SetResult(data) != nil {
		err = fmt.Errorf("%w: the result has %d bytes", ErrTooLarge, len(data))
	}
	return Final(err)
}
