package flow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

const (
	// maxSteps bounds what is read for each attempt.
	maxSteps = 10000
	// own precedes the parts of names that are pawl's, and the numbers of names that come again.
	own       = "#"
	ending    = own + "end"
	done      = own + "done"
	undoing   = own + "undo"
	continued = own + "continue"
)

// Run is one run of a flow's function. It is for the goroutine that the function is called in.
type Run struct {
	ctx   context.Context
	flows *Flows
	spec  *spec
	id    outbox.MessageID // of the flow
	m     *outbox.Message  // that is handled: the flow's, or that of a part
	part  string           // the step that it is a part of; "": it is the flow's

	loaded    time.Time // when the rest was read
	clock     time.Time // when that was by the database's clock
	steps     map[mark]*op.FlowRow
	signals   []op.FlowRow   // that no step took, in their order
	names     map[string]int // how often each was used
	unreached map[string]bool
	nr        int // of the last step
	base      int // how many attempts had failed when that was stored
	undos     []undo
	onDone    []func(ctx context.Context, tx outbox.Tx) error

	stop      error // what everything returns from now on; nil: the run goes on
	suspended bool
	answer    error // what the worker is told, once the run is suspended
	cause     error // with which the step that runs failed
	ending    error // with which the flow fails, once its effects are undone
}

// mark identifies a stored step.
type mark struct {
	name string
	kind int
}

// ID returns the id of the flow, which is that of its message.
func (f *Run) ID() outbox.MessageID { return f.id }

// Message returns the message that is handled: the flow's, or that of a part of All.
func (f *Run) Message() *outbox.Message { return f.m }

// Context returns the context of the attempt, for what runs between steps.
func (f *Run) Context() context.Context { return f.ctx }

// Key returns an idempotency key for a service that a step calls: the same for every attempt, another
// one for each flow and name.
func (f *Run) Key(name string) string { return f.id.String() + "/" + name }

// Version returns n for a run that comes here for the first time, and from then on the same number:
// it is stored. A run that came past here when the code did not have the call gets 0. So code can change
// for runs to come:
//
//	if f.Version("two mails", 1) >= 1 {
//
// A later change asks for 2 under the same name.
func (f *Run) Version(name string, n int) int {
	key, row, err := f.reach(name)
	if err != nil {
		return 0
	}
	if row != nil {
		pinned, _ := strconv.Atoi(string(row.Result))
		return pinned
	}
	if len(f.unreached) > 0 || f.ending != nil || f.part != "" {
		return 0
	}
	_ = f.keep(&op.FlowStep{Name: key, Kind: op.FlowDone, Result: strconv.AppendInt(nil, int64(n), 10)}) // otherwise the run is suspended
	return n
}

// handle is the handler of the flow's messages.
func (fl *Flow[I, O]) handle(ctx context.Context, fs *Flows, m *outbox.Message) error {
	f := &Run{ctx: ctx, flows: fs, spec: &fl.spec, id: m.ID, m: m}
	if step, ok := m.Headers[op.FlowPart]; ok {
		return fl.handlePart(f, step)
	}
	if err := f.load(int64(m.Position)); err != nil {
		return err
	}
	out, err := fl.call(f, m.Payload)
	return f.end(out, err)
}

// call calls the function with the body of the flow.
func (fl *Flow[I, O]) call(f *Run, payload []byte) (out O, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &worker.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	var in I
	if err := f.decode(f.id, payload, &in); err != nil {
		return out, fmt.Errorf("decode payload: %w", err)
	}
	return fl.fn(f, in)
}

// load reads what is stored of the flow at a position.
func (f *Run) load(position int64) error {
	l := loading{id: position}
	if err := f.flows.loads.Do(f.ctx, &l); err != nil {
		return err
	}
	f.loaded, f.clock = time.Now(), l.now
	f.steps, f.names, f.unreached = make(map[mark]*op.FlowRow, len(l.rows)), map[string]int{}, map[string]bool{}
	var steps []op.FlowRow
	steps, f.signals = l.split()
	for i := range steps {
		row := &steps[i]
		f.steps[mark{row.Name, row.Kind}] = row
		f.nr, f.base = row.Nr, max(f.base, row.Retry)
		if row.Kind != op.FlowEnding && !strings.HasSuffix(row.Name, undoing) {
			f.unreached[row.Name] = true
		}
	}
	f.base = min(f.base, f.m.RetryCount) // it was redriven
	return f.loadEnding()
}

// loadEnding finds out whether the flow has failed, or is to be cancelled.
func (f *Run) loadEnding() error {
	if row := f.steps[mark{ending, op.FlowEnding}]; row != nil {
		f.ending = errors.New(string(row.Result))
		if row.Signal > 0 {
			f.ending = ErrCancelled
		}
		return nil
	}
	i := slices.IndexFunc(f.signals, func(s op.FlowRow) bool { return s.Name == op.FlowCancel })
	if i < 0 || f.part != "" || f.steps[mark{done, op.FlowDone}] != nil { // what it does at its end is done
		return nil
	}
	return f.fail(ErrCancelled, f.signals[i].Signal)
}

// fail begins the end of a flow that failed, or was cancelled.
func (f *Run) fail(err error, signal int) error {
	f.stop = nil
	if err := f.keep(&op.FlowStep{Name: ending, Kind: op.FlowEnding, Signal: signal, Result: []byte(worker.ErrorText(err.Error()))}); err != nil {
		return f.answer
	}
	f.ending = err
	return nil
}

// reach returns the name under which a step is stored, numbered if it comes again, and what is stored
// of it: nil if it has to run.
func (f *Run) reach(name string) (key string, row *op.FlowRow, err error) {
	if f.stop != nil {
		return "", nil, f.stop
	}
	err = engine.CheckText("step", name, limits.FlowName, true)
	if err == nil && strings.Contains(name, own) {
		err = engine.Invalid("step", "%q contains %s", name, own)
	}
	if err != nil {
		f.stop = Final(err)
		return "", nil, f.stop
	}
	key = name
	if f.names[name]++; f.names[name] > 1 {
		key = fmt.Sprintf("%s%s%d", name, own, f.names[name])
	}
	delete(f.unreached, key)
	return key, f.ended(key), nil
}

// ended returns the row of a step that need not run again; nil if there is none.
func (f *Run) ended(key string) *op.FlowRow {
	for _, kind := range []int{op.FlowDone, op.FlowFailed, op.FlowTimedOut} {
		if row := f.steps[mark{key, kind}]; row != nil {
			return row
		}
	}
	return nil
}

// begin returns whether a step that is not stored may run. In a flow that is ending, and in a part of
// another step, none does.
func (f *Run) begin() error {
	switch {
	case f.ctx.Err() != nil:
		return f.suspend(f.ctx.Err())
	case f.ending != nil:
		f.stop = f.ending
	case f.part != "":
		f.stop = fmt.Errorf("the flow's function comes to another step before %q", f.part)
	case f.nr >= maxSteps:
		f.stop = Final(fmt.Errorf("%w steps", ErrTooMany))
	}
	return f.stop
}

// suspend ends the attempt, and gives the worker an answer.
func (f *Run) suspend(answer error) error {
	f.stop, f.suspended, f.answer = ErrSuspended, true, answer
	return ErrSuspended
}

// keep stores a step. Without an error it is stored, and this attempt still held the message.
func (f *Run) keep(s *op.FlowStep) error {
	if err := f.number(s); err != nil {
		return err
	}
	ctx := f.ctx
	if ctx.Err() != nil { // what a step did is stored also if the attempt was stopped meanwhile
		var cancel context.CancelFunc
		ctx, cancel = engine.Detach(ctx, time.Minute)
		defer cancel()
	}
	return f.kept(s, f.flows.writes.Do(ctx, &write{step: s}))
}

// number completes a step that is to be stored.
func (f *Run) number(s *op.FlowStep) error {
	if len(s.Result) > limits.Result {
		f.stop = Final(fmt.Errorf("%w: step %q has %d bytes", ErrTooLarge, s.Name, len(s.Result)))
		return f.stop
	}
	s.Owner, s.ID, s.Nr, s.Retry = f.m.Owner, int64(f.m.Position), f.nr+1, f.m.RetryCount
	if s.Result == nil {
		s.Result = []byte{}
	}
	return nil
}

func (f *Run) kept(s *op.FlowStep, err error) error {
	switch {
	case errors.Is(err, errLost):
		return f.suspend(worker.SettledAs(worker.OutcomeLost))
	case err != nil:
		return f.suspend(err)
	}
	f.nr, f.base = s.Nr, s.Retry
	f.steps[mark{s.Name, s.Kind}] = &op.FlowRow{Name: s.Name, Kind: s.Kind, Nr: s.Nr, Retry: s.Retry, Signal: s.Signal, Result: s.Result}
	return nil
}

// encode and decode are for what belongs to a message of the flow.

func (f *Run) encode(of outbox.MessageID, v any) ([]byte, error) {
	return codec.Encode(f.ctx, f.spec.settings.Codec, codec.Target{Topic: f.spec.topic, ID: of}, v)
}

func (f *Run) decode(of outbox.MessageID, data []byte, v any) error {
	return codec.Decode(f.ctx, f.spec.settings.Codec, codec.Target{Topic: f.spec.topic, ID: of}, data, v)
}

// policy returns the retry policy of a step.
func (f *Run) policy(own *outbox.RetryPolicy) worker.RetryPolicy {
	switch {
	case own != nil:
		return worker.RetryPolicy(*own)
	case f.spec.settings.Retry != nil:
		return worker.RetryPolicy(*f.spec.settings.Retry)
	}
	return worker.DefaultRetryPolicy()
}

// again returns what the worker is told of an attempt that failed, and whether there is another one.
func (f *Run) again(policy worker.RetryPolicy, err error) (answer error, again bool) {
	if f.ctx.Err() != nil { // it says nothing of the step that the process stops, even if it is Final
		return fmt.Errorf("%w: %v", f.ctx.Err(), err), true
	}
	failures := f.m.RetryCount - f.base + 1
	if err = policy.Limit(err, failures-1); worker.IsPermanent(err) {
		return err, false
	}
	if asked := worker.AskedDelay(err); asked != nil {
		return worker.RetryAfter(max(*asked, policy.Wait(failures)), err), true
	}
	return worker.RetryAfter(policy.Wait(failures), err), true
}
