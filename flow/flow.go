// Package flow runs functions of several steps that survive crashes, and that wait for a signal, a time
// or other work without holding a worker.
//
// A flow is a message of topic "flow.NAME" whose handler is an ordinary function. What its steps
// return is stored. When an attempt fails, its process dies, or the flow has waited, the function runs
// again from its beginning, and steps that are stored return what they returned before: only what is
// between steps runs again. See docs/flows.md.
package flow

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// TopicPrefix precedes a flow's name in the topic of its messages.
const TopicPrefix = "flow."

// Flow is a function over a body of type I that returns a result of type O. Make it once, with New, and
// use it in all processes. It is safe for concurrent use.
type Flow[I, O any] struct {
	spec spec
	fn   func(f *Run, in I) (O, error)
}

// spec is what does not depend on types.
type spec struct {
	topic    string
	settings Settings
	err      error // of New
}

// Settings configure a flow. The zero value is right for most.
type Settings struct {
	// Queue is where its messages go, default outbox.DefaultQueue.
	Queue string
	// Priority orders the queue: lower goes first, −100 … 100, default 0.
	Priority int
	// Retry is the policy of steps that have none of their own, of what runs between steps, and of
	// Undo; nil: ten attempts, 1, 2, 4, … 60 s apart, ± 10 %. Each step has all of them.
	Retry *outbox.RetryPolicy
	// Codec encodes bodies, results of steps and the flow's result; nil: JSON. See pawl.Codec.
	Codec interface {
		Encode(body any) ([]byte, error)
		Decode(payload []byte, body any) error
	}
}

// Host is a database whose flows are meant: a *pawl.Pawl.
type Host interface {
	Flows() *Flows
}

// New returns a flow. Its name has at most 250 characters. fn may call what takes a Run in the same
// goroutine only, and has to return when one of these returns an error that is or wraps ErrSuspended.
// A change of fn takes effect for runs that have begun, too: see Run.Version.
func New[I, O any](name string, fn func(f *Run, in I) (O, error), settings ...Settings) *Flow[I, O] {
	s, err := engine.Option(settings)
	if err == nil {
		err = engine.CheckText("flow", name, limits.FlowName, true)
	}
	if err == nil && s.Retry != nil {
		err = engine.InOptions("Retry", worker.RetryPolicy(*s.Retry).Validate())
	}
	if err == nil && fn == nil {
		err = engine.Invalid("flow", "%q has no function", name)
	}
	return &Flow[I, O]{spec: spec{topic: TopicPrefix + name, settings: s, err: err}, fn: fn}
}

// Handle registers the flow's handler, before Run. opts may have Concurrency, Limit and Order;
// Settings.Retry takes the place of their Retry, and StepOptions.Timeout that of their Timeout.
func (fl *Flow[I, O]) Handle(h Host, opts ...outbox.HandlerOptions) {
	fs := h.Flows()
	o, err := engine.Option(opts)
	if err == nil {
		err = fl.spec.err
	}
	switch {
	case err != nil:
	case o.Retry != nil:
		err = engine.InOptions("Retry", errors.New("is that of the flow's Settings"))
	case o.Timeout != 0:
		err = engine.InOptions("Timeout", errors.New("is that of StepOptions"))
	}
	if err != nil {
		fs.messages.Refuse(fl.spec.topic, err)
		return
	}
	// How often a step is tried is counted by step. A delay that a step asks for is the one there is.
	o.Retry = &outbox.RetryPolicy{Delay: func(int) time.Duration { return 0 }}
	fs.messages.Handle(fl.spec.topic, func(ctx context.Context, m *outbox.Message) error { return fl.handle(ctx, fs, m) }, o)
}

// Options are the options of a run. The zero value starts it at once.
type Options struct {
	// Key identifies the run: starting another one of the flow with the same key starts nothing, and
	// returns the id of the first, as long as that is kept (pawl.Options.Retention). At most 255
	// characters, "" for none.
	Key string
	// Due is when the run begins at the earliest, default at once.
	Due time.Time
	// CorrelationID links the run's messages to others, for people and logs.
	CorrelationID string
	// Headers travel with the message.
	Headers map[string]string
}

// ID returns the id of the run with a key.
func (fl *Flow[I, O]) ID(key string) outbox.MessageID {
	return outbox.MessageID(uuid.NewSHA1(uuid.NameSpaceOID, []byte("pawl/"+fl.spec.topic+"/"+key)))
}

// Start begins a run of the flow in a transaction of its own. It returns the run's id, which is that of
// its message. With pawl.ErrCommitUnknown and a key, starting again starts nothing twice.
func (fl *Flow[I, O]) Start(ctx context.Context, h Host, in I, opts ...Options) (outbox.MessageID, error) {
	return h.Flows().outbox.Enqueue(ctx, fl.message(in, opts))
}

// StartTx is Start in the program's transaction, which decides whether the run ever was: see
// outbox.Outbox.EnqueueTx.
func (fl *Flow[I, O]) StartTx(ctx context.Context, h Host, tx any, in I, opts ...Options) (outbox.MessageID, error) {
	return h.Flows().outbox.EnqueueTx(ctx, tx, fl.message(in, opts))
}

// message returns the message that begins a run, or one that cannot be enqueued.
func (fl *Flow[I, O]) message(in I, opts []Options) outbox.Message {
	o, err := engine.Option(opts)
	m := fl.spec.message(in, outbox.Message{Due: o.Due, CorrelationID: o.CorrelationID, Headers: o.Headers})
	if o.Key != "" {
		m.ID = fl.ID(o.Key)
	}
	if err = cmp.Or(err, engine.CheckText("key", o.Key, limits.UniqueKey, false)); err != nil {
		outbox.WithPayload(access.Key{}, &m, nil, err)
	}
	return m
}

// message completes a message with what the flow says, and with the payload of a body: once its id is
// known. One that cannot be encoded cannot be enqueued.
func (s *spec) message(body any, m outbox.Message) outbox.Message {
	m.Topic, m.Queue, m.Priority = s.topic, s.settings.Queue, s.settings.Priority
	outbox.WithPayload(access.Key{}, &m, func(ctx context.Context, tx outbox.Tx, id outbox.MessageID) ([]byte, error) {
		return codec.Encode(ctx, s.settings.Codec, codec.Target{Topic: s.topic, ID: id, Tx: tx}, body)
	}, s.err)
	return m
}

// Await waits until a run has ended, and returns its result. It follows runs that Continue began.
// Errors: *outbox.EndError for a run that failed or was cancelled, with the reason; outbox.ErrNotFound; the
// error of ctx.
func (fl *Flow[I, O]) Await(ctx context.Context, h Host, id outbox.MessageID) (out O, err error) {
	for {
		data, err := h.Flows().outbox.Await(ctx, id)
		if err != nil {
			return out, err
		}
		if len(data) > 0 {
			return out, codec.Decode(ctx, fl.spec.settings.Codec, codec.Target{Topic: fl.spec.topic, ID: id}, data, &out)
		}
		id = derived(id, continued) // every other run has a result
	}
}

// derived returns the id of a message that belongs to a run: enqueuing it again has no effect.
func derived(id outbox.MessageID, role string) outbox.MessageID {
	return outbox.MessageID(uuid.NewSHA1(uuid.UUID(id), []byte("pawl/flow/"+role)))
}
