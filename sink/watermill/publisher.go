package watermill

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
)

// ErrClosed is returned by a Publisher or Subscriber after Close.
var ErrClosed = errors.New("closed")

// PublisherOptions configure a Publisher. The zero value fits a Subscriber with its zero value.
type PublisherOptions struct {
	// Queue returns the queue for the messages of a topic; nil: a queue of the topic's name, as
	// a Subscriber expects them. InQueue(outbox.DefaultQueue) is for messages that handlers of a
	// Pawl get, or that Forward publishes.
	Queue func(topic string) string
	// UUIDAsID makes the UUID of a message its id in the outbox, if it is a UUID: a second
	// message with it is not added, to any topic, as long as the first is kept. Programs that
	// publish a message again on purpose, such as Watermill's poison queue and requeuer, must
	// not use it. Otherwise each message gets an id of its own, and its UUID is restored by
	// Subscriber.
	UUIDAsID bool
	// Adjust, if not nil, changes each message before it is enqueued, to set Due, Expires,
	// Priority or UniqueKey for example.
	Adjust func(m *outbox.Message, published *message.Message)
}

// InQueue returns a function for PublisherOptions.Queue and SubscriberOptions.Queue that names
// one queue for all topics.
func InQueue(name string) func(topic string) string {
	return func(string) string { return name }
}

// ofTopic is the queue of a topic where no function was given.
func ofTopic(topic string) string { return topic }

// Publisher is a message.Publisher that enqueues messages in an outbox. It is safe for
// concurrent use.
type Publisher struct {
	outbox *outbox.Outbox
	opts   PublisherOptions
	closed atomic.Bool
}

var _ message.Publisher = (*Publisher)(nil)

// NewPublisher returns a publisher for the outbox of p.
func NewPublisher(p *pawl.Pawl, opts PublisherOptions) *Publisher {
	if opts.Queue == nil {
		opts.Queue = ofTopic
	}
	return &Publisher{outbox: p.Outbox, opts: opts}
}

// Publish enqueues messages in a transaction of their own: all or none. Correlation id and
// ordering key are taken from the metadata, the rest of which become headers; what exceeds the
// limits of outbox.Message is an error that errors.Is finds to be pawl.ErrInvalid. The context
// is that of the first message.
func (p *Publisher) Publish(topic string, messages ...*message.Message) error {
	return p.publish(nil, topic, messages)
}

// WithTx returns a publisher that enqueues messages in the caller's transaction, as
// outbox.Outbox.EnqueueTx does: *sql.Tx, pgx.Tx and those of other libraries. They exist once
// the transaction commits. It is for use until then; its Close does nothing.
func (p *Publisher) WithTx(tx any) message.Publisher {
	return &txPublisher{publisher: p, tx: tx}
}

// Close makes later calls fail with ErrClosed. It leaves the database open.
func (p *Publisher) Close() error {
	p.closed.Store(true)
	return nil
}

// txPublisher publishes in a transaction.
type txPublisher struct {
	publisher *Publisher
	tx        any
}

func (t *txPublisher) Publish(topic string, messages ...*message.Message) error {
	if t.tx == nil {
		return fmt.Errorf("watermill: publish to %q: %w", topic, pawl.ErrNotInTransaction)
	}
	return t.publisher.publish(t.tx, topic, messages)
}

func (t *txPublisher) Close() error { return nil }

// publish enqueues in tx, or in a transaction of its own if that is nil.
func (p *Publisher) publish(tx any, topic string, messages []*message.Message) error {
	if p.closed.Load() {
		return fmt.Errorf("watermill: publish to %q: %w", topic, ErrClosed)
	}
	if len(messages) == 0 {
		return nil
	}
	all := make([]outbox.Message, len(messages))
	for i, w := range messages {
		m := fromWatermill(topic, w, p.opts.UUIDAsID)
		m.Queue = p.opts.Queue(topic)
		if p.opts.Adjust != nil {
			p.opts.Adjust(&m, w)
		}
		all[i] = m
	}
	ctx := messages[0].Context()
	var err error
	if tx == nil {
		_, err = p.outbox.EnqueueBatch(ctx, all)
	} else {
		_, err = p.outbox.EnqueueBatchTx(ctx, tx, all)
	}
	if err != nil {
		return fmt.Errorf("watermill: publish to %q: %w", topic, err)
	}
	return nil
}
