package inbox

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
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
}

// The headers that carry the key to the handler.
const (
	headerSource  = "pawl-inbox-source"
	headerMessage = "pawl-inbox-message-id"
	headerHash    = "pawl-inbox-hash"
)

// messageID is the id of an enqueued message: the same for every delivery.
func messageID(k *Key) outbox.MessageID {
	return outbox.MessageID(uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "pawl/inbox/%d/%s%s", len(k.Source), k.Source, k.MessageID)))
}

// QueuedAs returns the id under which Enqueue puts the message into the queue.
func (k Key) QueuedAs() outbox.MessageID { return messageID(&k) }

// Enqueue stores a message for the workers, once: added is false if it is known already. After
// it returned, the delivery can be confirmed to its sender. Errors: ErrHashMismatch;
// engine.ErrCommitUnknown, after which enqueuing it again is safe.
func (i *Inbox) Enqueue(ctx context.Context, m Message) (added bool, err error) {
	return i.enqueue(ctx, nil, m)
}

// EnqueueTx is Enqueue in the caller's transaction.
// Any isolation level will do; under repeatable read and serializable it fails with
// engine.ErrSerialization if somebody else changed the message since the transaction's
// first statement.
func (i *Inbox) EnqueueTx(ctx context.Context, tx any, m Message) (added bool, err error) {
	own, err := engine.TxOf(i.db, tx)
	if err != nil {
		return false, err
	}
	return i.enqueue(ctx, own, m)
}

func (i *Inbox) enqueue(ctx context.Context, tx outbox.Tx, m Message) (added bool, err error) {
	if err := m.validate(); err != nil {
		return false, err
	}
	var b *outbox.Batch
	see := engine.Ask(op.InboxSee{InboxKey: m.op(), Hash: m.hash()})
	var calls []*engine.Call
	err = engine.Repeat(ctx, tx, func() (err error) {
		if b, err = i.queue.Prepare(ctx, tx, []outbox.Message{m.wrap(i.opts.Queue)}); err != nil {
			return err
		}
		calls = append([]*engine.Call{see}, b.Calls()...)
		return engine.Run(ctx, i.db, tx, calls...)
	})
	if err != nil {
		return false, err
	}
	b.Ran(ctx, tx)
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
	}
}

func unwrap(m *outbox.Message) (*Message, error) {
	hash, err := hex.DecodeString(m.Headers[headerHash])
	in := &Message{
		Key:   Key{Source: m.Headers[headerSource], MessageID: m.Headers[headerMessage], Hash: hash},
		Topic: m.Topic, Payload: m.Payload, CorrelationID: m.CorrelationID, Headers: maps.Clone(m.Headers), Due: m.Due, Priority: m.Priority,
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
		return nil, outbox.Permanent(fmt.Errorf("not a message of the inbox: %w", err))
	}
	return in, nil
}

// Handle registers a handler for enqueued messages of a topic. It runs outside a transaction, as
// in Attempt. Its errors are treated as those of outbox handlers; when its attempts are used up
// the message is dead. An attempt that ended with its process counts only if the message was
// handled alone; see outbox.Outbox.Claim.
func (i *Inbox) Handle(topic string, h func(ctx context.Context, m *Message) error) {
	worker := i.behindQueue()
	i.register(topic, func(ctx context.Context, m *Message) error {
		return worker.Attempt(ctx, m.Key, func(ctx context.Context) error { return h(ctx, m) })
	})
}

// HandleTx registers a handler that runs in a transaction, as in Once: what it
// writes through tx takes effect exactly once.
func (i *Inbox) HandleTx(topic string, h func(ctx context.Context, tx outbox.Tx, m *Message) error) {
	worker := i.behindQueue()
	i.register(topic, func(ctx context.Context, m *Message) error {
		return worker.Once(ctx, m.Key, func(ctx context.Context, tx outbox.Tx) error { return h(ctx, tx, m) })
	})
}

// busyDelay is the delay for a message that is being processed elsewhere.
const busyDelay = time.Second

func (i *Inbox) register(topic string, process func(ctx context.Context, m *Message) error) {
	i.served = true
	i.queue.Handle(topic, outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) error {
		in, err := unwrap(m)
		if err != nil {
			return err
		}
		if most := i.maxAttempts(); most > 0 && m.RetryCount >= most {
			// Its leases expired: it probably ends its worker's process, so it must not run again.
			gaveUp := fmt.Errorf("lease expired; gave up after %d attempts, the last of which did not end", m.RetryCount)
			if err := i.behindQueue().failed(ctx, &in.Key, nil, outbox.Permanent(gaveUp)); err != nil {
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
	}))
}

// Use wraps all handlers; see outbox.Outbox.Use.
func (i *Inbox) Use(mw ...outbox.Middleware) { i.queue.Use(mw...) }

// Observe registers o; see outbox.Outbox.Observe.
func (i *Inbox) Observe(o worker.Observer) { i.queue.Observe(o) }

// AddHeaders registers f; see outbox.Outbox.AddHeaders.
func (i *Inbox) AddHeaders(f outbox.HeaderFunc) { i.queue.AddHeaders(f) }

// Unhandled returns the topics that had no handler here; see outbox.Outbox.Unhandled.
func (i *Inbox) Unhandled() []string { return i.queue.Unhandled() }

// LoopStatus returns the status of the loops of this process: the queue's, if handlers are
// registered, and the one that cleans up.
func (i *Inbox) LoopStatus() []worker.LoopStatus {
	all := []worker.LoopStatus{i.cleaning.Status("clean-up of the inbox")}
	if i.served {
		queue := i.queue.LoopStatus()
		queue[len(queue)-1].Name += " (inbox)" // the outbox has a queue of this name too
		all = append(queue, all...)
	}
	return all
}

// Concurrency returns how many handlers run at once in this process: 0 without handlers.
func (i *Inbox) Concurrency() int {
	if !i.served {
		return 0
	}
	return i.queue.Concurrency()
}

// Topics returns the topics that have a handler.
func (i *Inbox) Topics() []string { return i.queue.Topics() }

// Stats returns what the workers of this process did.
func (i *Inbox) Stats() worker.Counts { return i.queue.Stats() }

// Run handles enqueued messages, if handlers are registered, and cleans up periodically, until
// ctx ends. See outbox.Outbox.Run for the rest.
func (i *Inbox) Run(ctx context.Context) error {
	if err := i.valid(); err != nil {
		return err
	}
	return worker.RunWithCleanup(ctx, i.serve, i.cleanLoop) // the queue's Run cleans up by itself
}

// KeepClean cleans up periodically until ctx ends, without handling messages.
func (i *Inbox) KeepClean(ctx context.Context) {
	var queue sync.WaitGroup
	defer queue.Wait()
	if i.served {
		queue.Go(func() { i.queue.KeepClean(ctx) })
	}
	i.cleanLoop(ctx)
}

func (i *Inbox) cleanLoop(ctx context.Context) {
	worker.RunCleanup(ctx, i.log.With("component", "inbox"), i.cleaning, i.CleanUp)
}

// Queues returns the queue that Run serves, if handlers are registered.
func (i *Inbox) Queues() []string {
	if !i.served {
		return nil
	}
	return i.queue.Queues()
}

// RunSlice handles enqueued messages, if handlers are registered, for a limited
// time; see outbox.Outbox.RunSlice.
func (i *Inbox) RunSlice(ctx context.Context, t worker.TimeSlice) error {
	if err := i.valid(); err != nil || !i.served {
		return err
	}
	return i.queue.RunSlice(ctx, t)
}

// valid returns the error of invalid options.
func (i *Inbox) valid() error {
	if i.invalid != nil {
		return fmt.Errorf("options of the inbox: %w", i.invalid)
	}
	return nil
}

func (i *Inbox) serve(ctx context.Context) error {
	switch {
	case i.served:
		return i.queue.Run(ctx)
	case !i.stopWhenEmpty:
		<-ctx.Done()
	}
	return nil
}
