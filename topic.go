package pawl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Topic is the one name, type and codec that those who enqueue messages and those who
// handle them share. Declare it once:
//
//	var OrderCreated = pawl.NewTopic[Order]("order.created")
//
// A Topic is immutable and safe for concurrent use. It belongs to no database.
type Topic[T any] struct {
	name  string
	also  []string    // other names that its handlers take
	plain codec.Codec // without TopicOptions.Codec
	opts  TopicOptions
}

// TopicOptions adjust a topic. The zero value is right for most.
type TopicOptions struct {
	// Codec encodes and decodes bodies. Default: JSON; for Topic[[]byte] the body is the
	// payload.
	Codec Codec
	// Queue is the queue of the topic's messages, default outbox.DefaultQueue.
	Queue string
	// Priority is that of the topic's messages, -100 … 100, default 0: the lower come
	// first.
	Priority int
	// UndecodableFails makes a payload that Codec cannot decode fail for good at its first
	// attempt, unless its key or the store of its blob is what is missing. Default: it is an ordinary failed attempt, because another version of the
	// program, which may be running or about to, may be able to decode it.
	UndecodableFails bool
}

// NewTopic returns a topic, with one TopicOptions at most. It panics if these or the name are
// invalid, which is a mistake in the program.
func NewTopic[T any](name string, opts ...TopicOptions) *Topic[T] {
	o, err := engine.Option(opts)
	t := &Topic[T]{name: name, opts: o, plain: plain[T]()}
	if err := cmp.Or(err, (&outbox.Message{Topic: name, Queue: t.opts.Queue, Priority: t.opts.Priority}).Validate()); err != nil {
		panic(fmt.Sprintf("pawl: topic %q: %v", name, err))
	}
	return t
}

// plain returns the codec of bodies without one of their topic.
func plain[T any]() codec.Codec {
	if _, raw := any((*T)(nil)).(*[]byte); raw {
		return codec.Bytes{}
	}
	return codec.JSON{}
}

// Also returns the topic with other names that its handlers take as well: those that it had, in messages,
// timers and jobs that an earlier version of the program stored. What is enqueued has the topic's own name.
// It panics if a name is invalid. Patterns are allowed.
func (t *Topic[T]) Also(names ...string) *Topic[T] {
	for _, name := range names {
		if err := (&outbox.Message{Topic: name}).Validate(); err != nil {
			panic(fmt.Sprintf("pawl: topic %q: %v", name, err))
		}
	}
	more := *t
	more.also = slices.Concat(t.also, names)
	return &more
}

// names returns all names that handlers take.
func (t *Topic[T]) names() []string { return append([]string{t.name}, t.also...) }

// Name returns the topic's name.
func (t *Topic[T]) Name() string { return t.name }

// EnqueueOptions adjust messages. The zero value is right for most. Calls take one of them at most.
type EnqueueOptions struct {
	// ID makes enqueuing idempotent: a message whose id is known is not added again.
	// Default: a new id.
	ID outbox.MessageID
	// Due is when the message is handled at the earliest, default at once.
	Due time.Time
	// Expires is when the message is no longer worth handling, default never; see
	// outbox.Message.
	Expires time.Time
	// OrderingKey puts the message in line behind those with the same key; see
	// outbox.Message. It goes with TopicOptions.Priority 0 only.
	OrderingKey string
	// UniqueKey keeps the message out while an earlier one with the key is not done, or as
	// Unique says; see outbox.Message.
	UniqueKey string
	// Unique are the options of UniqueKey; nil: its zero value.
	Unique *outbox.UniqueOptions
	// CorrelationID links the message to others, for people and logs.
	CorrelationID string
	// Headers travel with the message.
	Headers map[string]string
}

// With returns the message of a body, for calls that take an outbox.Message: the steps and follow-ups of joins, and
// messages of several topics in one EnqueueBatchTx. Its payload is made by the call that stores it, in that call's
// transaction, and so are the errors of the codec and of the options. Sealed binds it to its topic and message; a
// follow-up to its topic alone.
//
//	_, err := p.Joins.FanOutTx(ctx, tx, join.Spec{}, []outbox.Message{Pack.With(o), Label.With(o)}, join.Wait{OnComplete: Ship.With(o)})
func (t *Topic[T]) With(body T, opts ...EnqueueOptions) outbox.Message {
	m, err := t.message(opts)
	if _, late := t.opts.Codec.(codec.Targeted); late && err == nil {
		return t.late(m, body)
	}
	if err == nil {
		m.Payload, err = t.encode(context.Background(), codec.Target{}, body)
	}
	if err != nil {
		outbox.WithPayload(access.Key{}, &m, nil, err)
	}
	return m
}

// late returns a message whose payload is made when it has its id.
func (t *Topic[T]) late(m outbox.Message, body T) outbox.Message {
	outbox.WithPayload(access.Key{}, &m, func(ctx context.Context, tx Tx, id outbox.MessageID) ([]byte, error) {
		return t.encode(ctx, codec.Target{ID: id, Tx: tx}, body)
	}, nil)
	return m
}

// Message returns the message of a body with its payload, for programs that send it themselves, to an inbox for
// example. It fails with [ErrInvalid] if the codec does. A Sealed payload is bound to the topic and, if options
// have it, the id. What is offloaded is put at once, in a transaction of its own.
func (t *Topic[T]) Message(body T, opts ...EnqueueOptions) (outbox.Message, error) {
	return outbox.Filled(access.Key{}, context.Background(), nil, t.With(body, opts...))
}

// message returns a message without its payload.
func (t *Topic[T]) message(opts []EnqueueOptions) (outbox.Message, error) {
	o, err := engine.Option(opts)
	return outbox.Message{
		Topic: t.name, Queue: t.opts.Queue, Priority: t.opts.Priority,
		ID: o.ID, Due: o.Due, Expires: o.Expires, OrderingKey: o.OrderingKey, UniqueKey: o.UniqueKey, Unique: o.Unique, CorrelationID: o.CorrelationID, Headers: o.Headers,
	}, err
}

func (t *Topic[T]) encode(ctx context.Context, to codec.Target, body T) ([]byte, error) {
	to.Topic, to.Default = t.name, t.plain
	return codec.Encode(ctx, t.opts.Codec, to, body)
}

// EnqueueTx stores a message in the program's transaction, which decides whether it was
// ever there; see outbox.Outbox.EnqueueTx for errors and isolation levels.
func (t *Topic[T]) EnqueueTx(ctx context.Context, p *Pawl, tx any, body T, opts ...EnqueueOptions) (outbox.MessageID, error) {
	return p.Outbox.EnqueueTx(ctx, tx, t.With(body, opts...))
}

// Enqueue stores a message in a transaction of its own; see outbox.Outbox.Enqueue.
func (t *Topic[T]) Enqueue(ctx context.Context, p *Pawl, body T, opts ...EnqueueOptions) (outbox.MessageID, error) {
	return p.Outbox.Enqueue(ctx, t.With(body, opts...))
}

// EnqueueBatchTx stores messages in the program's transaction, and returns their ids in
// the order of the bodies. The options hold for each, but for ID and UniqueKey, which are
// refused.
func (t *Topic[T]) EnqueueBatchTx(ctx context.Context, p *Pawl, tx any, bodies []T, opts ...EnqueueOptions) ([]outbox.MessageID, error) {
	msgs, err := t.messages(bodies, opts)
	if err != nil {
		return nil, err
	}
	return p.Outbox.EnqueueBatchTx(ctx, tx, msgs)
}

// EnqueueBatch stores messages in one transaction of its own, all or none; see
// EnqueueBatchTx.
func (t *Topic[T]) EnqueueBatch(ctx context.Context, p *Pawl, bodies []T, opts ...EnqueueOptions) ([]outbox.MessageID, error) {
	msgs, err := t.messages(bodies, opts)
	if err != nil {
		return nil, err
	}
	return p.Outbox.EnqueueBatch(ctx, msgs)
}

func (t *Topic[T]) messages(bodies []T, opts []EnqueueOptions) ([]outbox.Message, error) {
	o, err := engine.Option(opts)
	switch {
	case err != nil:
		return nil, err
	case !o.ID.IsZero():
		return nil, engine.Invalid("id", "one for several messages")
	case o.UniqueKey != "":
		return nil, engine.Invalid("unique key", "one for several messages")
	}
	return engine.Mapped(bodies, func(body *T) outbox.Message { return t.With(*body, opts...) }), nil
}

// ScheduleTx stores a timer in the program's transaction: when it is due, body becomes a
// message of the topic. tm says when, and may have a key; its topic and payload must be
// empty. See timer.Timers.ScheduleTx.
func (t *Topic[T]) ScheduleTx(ctx context.Context, p *Pawl, tx any, tm timer.Timer, body T) (timer.ID, error) {
	own, err := engine.TxOf(p.db, tx)
	if err == nil {
		err = t.fill(ctx, codec.Target{ID: tm.ID, Tx: own}, &tm.Topic, &tm.Payload, &tm.Queue, &tm.Priority, body)
	}
	if err != nil {
		return timer.ID{}, err
	}
	return p.Timers.ScheduleTx(ctx, tx, tm)
}

// Schedule stores a timer in a transaction of its own; see ScheduleTx.
func (t *Topic[T]) Schedule(ctx context.Context, p *Pawl, tm timer.Timer, body T) (timer.ID, error) {
	if err := t.fill(ctx, codec.Target{ID: tm.ID}, &tm.Topic, &tm.Payload, &tm.Queue, &tm.Priority, body); err != nil {
		return timer.ID{}, err
	}
	return p.Timers.Schedule(ctx, tm)
}

// Every returns a job whose runs are messages of the topic with body, at the times of a cron schedule on the clocks
// of a zone, "" for UTC: for job.Jobs.Sync, which takes all jobs of a program, and job.Jobs.Put, which return the
// errors. One job.Job may say the rest; its name is by default the topic's, and its topic, payload, schedule and
// zone must be empty. The payload is never offloaded.
//
//	_, err := p.Jobs.Sync(ctx, "shop", []job.Job{
//		Report.Every("0 6 * * MON-FRI", "Europe/Berlin", config),
//		Cleanup.Every("@hourly", "", limits, job.Job{Overlap: job.Skip}),
//	}, job.SyncOptions{})
func (t *Topic[T]) Every(schedule, zone string, body T, more ...job.Job) job.Job {
	jb, err := engine.Option(more)
	if err == nil && jb.Schedule+jb.Zone != "" {
		err = engine.Invalid("schedule", "set twice, or the zone")
	}
	if err == nil {
		err = t.fill(context.Background(), codec.Target{Template: true}, &jb.Topic, &jb.Payload, &jb.Queue, &jb.Priority, body)
	}
	jb.Name, jb.Schedule, jb.Zone = cmp.Or(jb.Name, t.name), schedule, zone
	return job.WithError(access.Key{}, jb, err)
}

// fill completes what becomes a message of the topic.
func (t *Topic[T]) fill(ctx context.Context, to codec.Target, topic *string, payload *[]byte, queue *string, priority *int, body T) (err error) {
	if *topic != "" || *payload != nil {
		return engine.Invalid("topic", "set beside that of topic %q, or a payload beside the body", t.name)
	}
	*topic, *queue, *priority = t.name, cmp.Or(*queue, t.opts.Queue), cmp.Or(*priority, t.opts.Priority)
	*payload, err = t.encode(ctx, to, body)
	return err
}

// Delivery is a message of a topic with its decoded body, as handlers get it.
type Delivery[T any] struct {
	*outbox.Message
	Body T
}

// Received is a message of the inbox with its decoded body, as handlers get it.
type Received[T any] struct {
	*inbox.Message
	Body T
}

// Handlers takes the handlers of topics: a *Pawl, or a *fleet.Fleet for all its databases.
type Handlers interface {
	Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions)
	HandleBatch(topic string, h outbox.BatchHandler, batch outbox.BatchOptions, opts ...outbox.HandlerOptions)
	HandleInbox(topic string, h func(ctx context.Context, m *inbox.Message) error, opts ...outbox.HandlerOptions)
	HandleInboxTx(topic string, h func(ctx context.Context, tx Tx, m *inbox.Message) error, opts ...outbox.HandlerOptions)
}

// Handle registers the handler of the topic and of its other names (see Also); see outbox.Handler for what its error says.
// A payload that cannot be decoded is a failed attempt, without a call of h; see
// TopicOptions.UndecodableFails.
func (t *Topic[T]) Handle(on Handlers, h func(ctx context.Context, d *Delivery[T]) error, opts ...outbox.HandlerOptions) {
	if h == nil {
		on.Handle(t.name, nil, opts...) // which refuses it
		return
	}
	for _, name := range t.names() {
		on.Handle(name, func(ctx context.Context, m *outbox.Message) error {
			d := Delivery[T]{Message: m}
			if err := t.decode(ctx, m, &d.Body); err != nil {
				return err
			}
			return h(ctx, &d)
		}, opts...)
	}
}

// HandleBatch registers a handler that gets messages of the topic together, and returns one
// result for each; see Pawl.HandleBatch. A payload that cannot be decoded is a failed
// attempt of its message alone; h gets the others.
func (t *Topic[T]) HandleBatch(on Handlers, h func(ctx context.Context, batch []*Delivery[T]) []error, opts outbox.BatchOptions, handler ...outbox.HandlerOptions) {
	if h == nil {
		on.HandleBatch(t.name, nil, opts, handler...)
		return
	}
	each := func(ctx context.Context, messages []*outbox.Message) []error {
		batch, of, results := make([]*Delivery[T], 0, len(messages)), make([]int, 0, len(messages)), make([]error, len(messages))
		for i, m := range messages {
			d := &Delivery[T]{Message: m}
			if results[i] = t.decode(ctx, m, &d.Body); results[i] == nil {
				batch, of = append(batch, d), append(of, i)
			}
		}
		if len(batch) == 0 {
			return results
		}
		handled := h(ctx, batch)
		for k, i := range of {
			if len(handled) == len(batch) {
				results[i] = handled[k]
				continue
			}
			results[i] = fmt.Errorf("batch handler returned %d results for %d messages", len(handled), len(batch))
		}
		return results
	}
	for _, name := range t.names() {
		on.HandleBatch(name, each, opts, handler...)
	}
}

// HandleInbox registers the handler of the topic's messages in the inbox, outside a
// transaction; see Pawl.HandleInbox. A payload that cannot be decoded is a failed attempt,
// without a call of h; see TopicOptions.UndecodableFails.
func (t *Topic[T]) HandleInbox(on Handlers, h func(ctx context.Context, r *Received[T]) error, opts ...outbox.HandlerOptions) {
	if h == nil {
		on.HandleInbox(t.name, nil, opts...)
		return
	}
	for _, name := range t.names() {
		on.HandleInbox(name, func(ctx context.Context, m *inbox.Message) error {
			r := Received[T]{Message: m}
			if err := t.decodeInbox(ctx, m, &r.Body); err != nil {
				return err
			}
			return h(ctx, &r)
		}, opts...)
	}
}

// HandleInboxTx is HandleInbox for a handler in a transaction: what it writes through tx
// takes effect exactly once; see Pawl.HandleInboxTx.
func (t *Topic[T]) HandleInboxTx(on Handlers, h func(ctx context.Context, tx Tx, r *Received[T]) error, opts ...outbox.HandlerOptions) {
	if h == nil {
		on.HandleInboxTx(t.name, nil, opts...)
		return
	}
	for _, name := range t.names() {
		on.HandleInboxTx(name, func(ctx context.Context, tx Tx, m *inbox.Message) error {
			r := Received[T]{Message: m}
			if err := t.decodeInbox(ctx, m, &r.Body); err != nil {
				return err
			}
			return h(ctx, tx, &r)
		}, opts...)
	}
}

// Decode returns the body of a message of the topic, for programs that claim or read messages themselves.
func (t *Topic[T]) Decode(ctx context.Context, m *outbox.Message) (body T, err error) {
	err = t.decode(ctx, m, &body)
	return body, err
}

func (t *Topic[T]) decode(ctx context.Context, m *outbox.Message, body *T) error {
	return t.decodeFor(ctx, codec.Target{Topic: m.Topic, ID: m.ID}, m.Payload, body)
}

// decodeInbox decodes a message of the inbox, whose id is that of a message of pawl's if it came from one.
func (t *Topic[T]) decodeInbox(ctx context.Context, m *inbox.Message, body *T) error {
	id, _ := outbox.ParseMessageID(m.MessageID)
	return t.decodeFor(ctx, codec.Target{Topic: m.Topic, ID: id}, m.Payload, body)
}

func (t *Topic[T]) decodeFor(ctx context.Context, of codec.Target, payload []byte, body *T) error {
	of.Names, of.Default = t.also, t.plain
	err := codec.Decode(ctx, t.opts.Codec, of, payload, body)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("decode payload: %w", err)
	if t.opts.UndecodableFails && !codec.Unavailable(err) {
		return outbox.Permanent(err)
	}
	return err
}
