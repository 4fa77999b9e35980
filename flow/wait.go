package flow

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Signal is a message to a flow that has begun, of type T in JSON: an approval, a webhook. It is kept until
// the flow asks for it, and taken once. It is safe for concurrent use.
type Signal[T any] struct{ name string }

// NewSignal returns a signal. Its name has at most 250 characters.
func NewSignal[T any](name string) *Signal[T] { return &Signal[T]{name} }

// Send sends the signal to the flow with an id, in a transaction of its own. Errors: outbox.ErrNotFound, ErrOver, ErrTooLarge.
func (s *Signal[T]) Send(ctx context.Context, h Host, id outbox.MessageID, v T) error {
	return s.send(ctx, h, nil, id, v)
}

// SendTx is Send in the program's transaction, which has to be read committed: on PostgreSQL any other
// fails with pawl.ErrIsolation. Other signals to the flow wait until it ends.
func (s *Signal[T]) SendTx(ctx context.Context, h Host, tx any, id outbox.MessageID, v T) error {
	if tx == nil {
		return engine.ErrNotInTransaction
	}
	return s.send(ctx, h, tx, id, v)
}

func (s *Signal[T]) send(ctx context.Context, h Host, tx any, id outbox.MessageID, v T) error {
	data, err := json.Marshal(v)
	if err != nil {
		return engine.Invalid("signal", "%q: %v", s.name, err)
	}
	if err := checkSignal(s.name); err != nil {
		return err
	}
	return h.Flows().send(ctx, tx, id, s.name, data)
}

// checkSignal refuses names that no signal has: the empty one cancels.
func checkSignal(name string) error { return engine.CheckText("signal", name, limits.FlowName, true) }

// WaitOption is an option of Wait.
type WaitOption func(*waiting)

type waiting struct{ within time.Duration }

// Within bounds how long Wait waits, from when the flow comes to it for the first time.
func Within(d time.Duration) WaitOption { return func(w *waiting) { w.within = d } }

// Wait takes the oldest signal of a name that was sent to the flow and not taken. Without one the flow
// is parked: no worker, no lease and no attempt, until the signal comes or the time of Within has passed. Errors:
// ErrTimeout, from then on too; ErrSuspended, ErrCancelled.
func Wait[T any](f *Run, signal string, opts ...WaitOption) (out T, err error) {
	var w waiting
	for _, set := range opts {
		set(&w)
	}
	key, row, err := f.reach(signal)
	if err != nil {
		return out, err
	}
	if row == nil {
		if row, err = f.await(key, signal, &w); err != nil {
			return out, err
		}
	}
	if row.Kind == op.FlowTimedOut {
		return out, ErrTimeout
	}
	return out, json.Unmarshal(row.Result, &out)
}

// await takes a signal, gives it up, or parks the flow.
func (f *Run) await(key, signal string, w *waiting) (*op.FlowRow, error) {
	if err := f.begin(); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(f.signals, func(s op.FlowRow) bool { return s.Name == signal }); i >= 0 {
		s := f.signals[i]
		if err := f.keep(&op.FlowStep{Name: key, Kind: op.FlowDone, Signal: s.Signal, Result: s.Result}); err != nil {
			return nil, err
		}
		f.signals = slices.Delete(f.signals, i, i+1)
		return f.ended(key), nil
	}
	if w.within <= 0 {
		return nil, f.park(signal, nil, nil)
	}
	if left, begun := f.left(key, w.within); left > 0 {
		return nil, f.park(signal, &left, begun)
	}
	err := f.observe(key, func(context.Context) error { return f.keep(&op.FlowStep{Name: key, Kind: op.FlowTimedOut}) })
	return f.ended(key), err
}

// left returns how much is left of a time that began when the flow came to a step for the first time, and
// the row that says when that was if it is not stored yet.
func (f *Run) left(key string, d time.Duration) (left time.Duration, begun *op.FlowStep) {
	if row := f.steps[mark{key, op.FlowBegun}]; row != nil {
		until, err := time.Parse(time.RFC3339Nano, string(row.Result))
		if err == nil {
			return until.Sub(f.now()), nil
		}
	}
	return d, &op.FlowStep{Name: key, Kind: op.FlowBegun, Result: f.now().Add(d).UTC().AppendFormat(nil, time.RFC3339Nano)}
}

// now returns the time by the database's clock, to a tenth of a second: a clock that a test has stopped stands
// still here, too.
func (f *Run) now() time.Time {
	return f.clock.Add(time.Since(f.loaded).Truncate(100 * time.Millisecond))
}

// Sleep parks the flow for d, from when it comes here for the first time.
func (f *Run) Sleep(name string, d time.Duration) error {
	key, row, err := f.reach(name)
	if err != nil || row != nil {
		return err
	}
	left, begun := f.left(key, d)
	if left <= 0 {
		return nil
	}
	if err := f.begin(); err != nil {
		return err
	}
	return f.park(op.FlowCancel, &left, begun)
}

// park parks the flow until a signal comes or a delay has passed, and stores since when it waits.
func (f *Run) park(signal string, delay *time.Duration, begun *op.FlowStep) error {
	w := write{park: &op.FlowParked{Owner: f.m.Owner, ID: int64(f.m.Position), Name: signal, Delay: delay}}
	if begun != nil {
		if err := f.number(begun); err != nil {
			return err
		}
		w.step = begun
	}
	if err := f.flows.writes.Do(f.ctx, &w); err != nil {
		return f.suspend(err)
	}
	return f.suspend(worker.SettledAs(worker.OutcomeSnoozed)) // it comes back
}
