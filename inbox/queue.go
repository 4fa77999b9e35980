package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Message is an inbound message to be handled by workers.
type Message struct {
	Key
	// Topic selects the handler; this and the rest are as in outbox.Message.
	Topic         string
	Payload       []byte
	CorrelationID string
	Headers       map[string]string
	Due           time.Time
	Priority      int
	OrderingKey   string
}

// The headers that carry the key to the handler.
const (
	headerSource  = "pawl-inbox-source"
	headerMessage = "pawl-inbox-message-id"
	headerHash    = "pawl-inbox-hash"
)

// messageID is the id of an enqueued message: the same for every delivery, and in SQL's
// inbox_message_id, which has SHA-256 but not SHA-1. Its version is that of ids made from names: in
// version 8 pawl reads a position.
func messageID(k *Key) outbox.MessageID {
	return outbox.MessageID(uuid.NewHash(sha256.New(), uuid.Nil, fmt.Appendf(nil, "pawl/inbox/%d/%s%s", len(k.Source), k.Source, k.MessageID), 5))
}

// Enqueue stores a message for the workers, once: added is false if it is known
// already. Once it returns, the delivery can be confirmed to its sender. Errors:
// ErrHashMismatch; pawl.ErrCommitUnknown, after which enqueuing it again is safe.
func (i *Inbox) Enqueue(ctx context.Context, m Message) (added bool, err error) {
	return i.EnqueueTx(ctx, engine.OwnTx{}, m)
}

// EnqueueTx is Enqueue in the caller's transaction.
// Any isolation level will do; under repeatable read and serializable it fails with
// pawl.ErrSerialization if somebody else changed the message since the transaction's
// first statement.
func (i *Inbox) EnqueueTx(ctx context.Context, tx any, m Message) (added bool, err error) {
	own, err := engine.TxFor(ctx, i.db, tx, "EnqueueTx")
	if err != nil {
		return false, err
	}
	if err := m.validate(); err != nil {
		return false, err
	}
	if _, ok := m.Headers[expiry.Header]; ok {
		return false, engine.Invalid("headers", "%s: messages of an inbox do not expire", expiry.Header)
	}
	var b queue.Batch[outbox.MessageID]
	see := engine.Ask(op.InboxSee{InboxKey: m.op(), Hash: m.hash()})
	var calls []*engine.Call
	err = engine.Repeat(ctx, own, func() (err error) {
		if b, err = i.messages.Prepare(ctx, own, []outbox.Message{m.wrap(i.opts.Queue)}); err != nil {
			return err
		}
		calls = append([]*engine.Call{see}, b.Calls()...)
		return engine.Run(ctx, i.db, own, calls...)
	})
	if err != nil {
		return false, err
	}
	b.Ran(ctx, own)
	if see.N == verdictMismatch {
		return false, errorOf(&m.Key, see.N)
	}
	return see.N != verdictDone && calls[len(calls)-1].N > 0, nil
}

// wrap returns the outbox's message of it.
func (m *Message) wrap(queue string) outbox.Message {
	headers := map[string]string{headerSource: m.Source, headerMessage: m.MessageID}
	if len(m.Hash) > 0 {
		headers[headerHash] = hex.EncodeToString(m.Hash)
	}
	maps.Copy(headers, m.Headers)
	return outbox.Message{
		ID: messageID(&m.Key), Topic: m.Topic, Payload: m.Payload, CorrelationID: m.CorrelationID, Headers: headers, Due: m.Due, Queue: queue, Priority: m.Priority,
		OrderingKey: m.OrderingKey,
	}
}

func unwrap(m *outbox.Message) (*Message, error) {
	hash, err := hex.DecodeString(m.Headers[headerHash])
	in := &Message{
		Key:   Key{Source: m.Headers[headerSource], MessageID: m.Headers[headerMessage], Hash: hash},
		Topic: m.Topic, Payload: m.Payload, CorrelationID: m.CorrelationID, Headers: maps.Clone(m.Headers), Due: m.Due, Priority: m.Priority,
		OrderingKey: m.OrderingKey,
	}
	for _, name := range []string{headerSource, headerMessage, headerHash} {
		delete(in.Headers, name)
	}
	if err == nil {
		err = in.validate()
	} else {
		err = errors.New("its hash is not hexadecimal") // hex quotes what it cannot parse (D-5)
	}
	if err != nil {
		return nil, fmt.Errorf("not a message of the inbox: %w", err)
	}
	return in, nil
}

// HandleInbox is pawl.Pawl.HandleInbox.
func (i component) HandleInbox(topic string, h func(ctx context.Context, m *Message) error, opts ...outbox.HandlerOptions) {
	if h == nil {
		i.messages.Handle(topic, nil, opts...) // which refuses it
		i.served = true
		return
	}
	worker := i.behindQueue(opts)
	worker.register(topic, opts, func(ctx context.Context, m *Message) error {
		return worker.Attempt(ctx, m.Key, func(ctx context.Context) error {
			ctx, cancel := bounded(ctx, opts)
			defer cancel()
			return h(ctx, m)
		})
	})
	i.served = true
}

// HandleInboxTx is pawl.Pawl.HandleInboxTx.
func (i component) HandleInboxTx(topic string, h func(ctx context.Context, tx outbox.Tx, m *Message) error, opts ...outbox.HandlerOptions) {
	if h == nil {
		i.messages.Handle(topic, nil, opts...) // which refuses it
		i.served = true
		return
	}
	worker := i.behindQueue(opts)
	worker.register(topic, opts, func(ctx context.Context, m *Message) error {
		return worker.Once(ctx, m.Key, func(ctx context.Context, tx outbox.Tx) error {
			ctx, cancel := bounded(ctx, opts)
			defer cancel()
			return h(ctx, tx, m)
		})
	})
	i.served = true
}

// bounded applies a handler's timeout. It ends the handler only, and not what records
// the failed attempt after it.
func bounded(ctx context.Context, opts []outbox.HandlerOptions) (context.Context, context.CancelFunc) {
	if len(opts) == 0 || opts[0].Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, opts[0].Timeout)
}

// busyDelay is the delay for a message that is being processed elsewhere.
const busyDelay = time.Second

// register registers a handler with the queue. The queue retries without a limit: the
// inbox counts attempts and decides when a message is dead.
func (i *Inbox) register(topic string, opts []outbox.HandlerOptions, process func(ctx context.Context, m *Message) error) {
	retry := i.retry
	if retry.Validate() == nil { // what is invalid is reported by Run
		retry.MaxAttempts = 0
	}
	queued := make([]outbox.HandlerOptions, max(len(opts), 1)) // more than one are refused
	queued[0].Retry = (*outbox.RetryPolicy)(&retry)
	if len(opts) > 0 {
		queued[0].Concurrency = opts[0].Concurrency
		queued[0].Timeout = min(opts[0].Timeout, 0) // invalid, too
	}
	i.messages.Handle(topic, func(ctx context.Context, m *outbox.Message) error {
		in, err := unwrap(m)
		if err != nil {
			return i.retry.Limit(err, m.RetryCount) // the inbox has no row to count its attempts in
		}
		if most := i.retry.MaxAttempts; most > 0 && m.RetryCount >= most {
			// Its leases ran out: it ends its workers, so it must not run again.
			gaveUp := fmt.Errorf("lease expired; gave up after %d attempts, the last of which did not end", m.RetryCount)
			if err := i.failed(ctx, &in.Key, nil, outbox.Permanent(gaveUp)); err != nil {
				if errors.Is(err, ErrDead) {
					err = outbox.Permanent(errors.Join(gaveUp, err))
				}
				return err
			}
		}
		switch err := process(ctx, in); {
		case errors.Is(err, ErrInProgress):
			return worker.PutBack(busyDelay)
		case errors.Is(err, ErrDead), errors.Is(err, ErrHashMismatch):
			return outbox.Permanent(err)
		default:
			return err
		}
	}, queued...)
}

// Limits returns the limits that handlers need.
func (i component) Limits() []throttle.Declared { return i.messages.Limits() }

// Use wraps all handlers.
func (i component) Use(mw ...outbox.Middleware) { i.messages.Use(mw...) }

// AddHeaders adds headers to every message that is enqueued.
func (i component) AddHeaders(f func(ctx context.Context, m *outbox.Message) map[string]string) {
	i.messages.AddHeaders(f)
}
