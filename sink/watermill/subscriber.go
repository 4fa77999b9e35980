package watermill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/outbox"
)

// errNacked is the error of an attempt that the consumer refused.
var errNacked = errors.New("the consumer sent a negative acknowledgement")

// SubscriberOptions configure a Subscriber. The zero value fits a Publisher with its zero value.
type SubscriberOptions struct {
	// Queue returns the queue of a topic's messages; nil: one of the topic's name. Messages of
	// other topics in it are put back for others, which costs both time.
	Queue func(topic string) string
	// Worker configures the workers. Its Concurrency is how many messages of a subscription wait
	// for their acknowledgement at once, and is 1 if it is zero: the next message comes after
	// the last was acked. Its Retry says when a message comes again that was nacked; nil: after
	// 0.1, 0.2, 0.4 … 10 s, without a limit of attempts. Its Grace is how long Close waits for
	// acknowledgements, and its Lease when a message comes again whose process ended. Queues,
	// QueueConcurrency, StopWhenEmpty and EnableSchemaDeployment are ignored.
	Worker pawl.Options
	// Instrument, if not nil, is called with the Pawl of each subscription before that runs, to
	// add observers and middleware as metrics and traces do.
	Instrument func(p *pawl.Pawl) error
}

// Subscriber is a message.Subscriber that delivers messages of an outbox. Each message goes to
// one subscription of its topic, in whichever process. It is safe for concurrent use.
type Subscriber struct {
	db   pawl.DB
	opts SubscriberOptions

	base context.Context // ends with Close
	stop context.CancelFunc

	mu      sync.Mutex
	running sync.WaitGroup // subscriptions; Add under mu
}

var _ message.Subscriber = (*Subscriber)(nil)

// NewSubscriber returns a subscriber for the outbox of p. Close it before p.
func NewSubscriber(p *pawl.Pawl, opts SubscriberOptions) (*Subscriber, error) {
	if opts.Queue == nil {
		opts.Queue = ofTopic
	}
	w := &opts.Worker
	w.Concurrency, w.QueueConcurrency = cmp.Or(w.Concurrency, 1), nil
	w.StopWhenEmpty, w.EnableSchemaDeployment = false, false
	if w.Retry == nil {
		w.Retry = &outbox.RetryPolicy{Delay: nackDelay, Jitter: 0.1}
	}
	if err := w.Validate(access.Key{}); err != nil {
		return nil, err
	}
	base, stop := context.WithCancel(context.Background())
	return &Subscriber{db: p.DB(), opts: opts, base: base, stop: stop}, nil
}

// nackDelay is the default delay after so many negative acknowledgements.
func nackDelay(failures int) time.Duration {
	const first, longest = 100 * time.Millisecond, 10 * time.Second
	if failures > 7 {
		return longest
	}
	return min(first<<max(failures-1, 0), longest)
}

// Subscribe begins to deliver the messages of a topic, by a worker of its own, until ctx ends or
// Close is called. The channel is closed then, once the messages that were delivered have been
// acknowledged or Grace is over; those without an acknowledgement are delivered again.
//
// The context of a message has the values of ctx. It ends with the acknowledgement, when the
// message's lease is lost, and with Grace.
func (s *Subscriber) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	p, sub, err := s.prepare(topic)
	if err != nil {
		return nil, fmt.Errorf("watermill: subscribe to %q: %w", topic, err)
	}
	if err := s.db.CheckSchema(ctx); err != nil {
		return nil, fmt.Errorf("watermill: subscribe to %q: %w", topic, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base.Err() != nil {
		return nil, fmt.Errorf("watermill: subscribe to %q: %w", topic, ErrClosed)
	}
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(s.base, cancel)
	sub.stopping = ctx.Done()
	s.running.Go(func() {
		defer cancel()
		defer unlink()
		sub.run(ctx, p)
	})
	return sub.out, nil
}

// prepare returns the worker of a subscription.
func (s *Subscriber) prepare(topic string) (*pawl.Pawl, *subscription, error) {
	opts := s.opts.Worker
	opts.Queues = []string{s.opts.Queue(topic)}
	p, err := pawl.New(s.db, opts)
	if err != nil {
		return nil, nil, err
	}
	if s.opts.Instrument != nil {
		if err := s.opts.Instrument(p); err != nil {
			return nil, nil, err
		}
	}
	sub := &subscription{topic: topic, out: make(chan *message.Message), logger: opts.Logger}
	p.Handle(topic, sub.deliver)
	return p, sub, nil
}

// Close ends all subscriptions, waits for them as Subscribe says, and makes later calls fail
// with ErrClosed. It leaves the database open.
func (s *Subscriber) Close() error {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// subscription passes the messages of a worker to a channel.
type subscription struct {
	topic    string
	out      chan *message.Message
	stopping <-chan struct{}
	logger   *slog.Logger

	delivering sync.WaitGroup
}

// run works until ctx ends, then closes the channel.
func (s *subscription) run(ctx context.Context, p *pawl.Pawl) {
	err := p.Run(ctx)
	s.delivering.Wait()
	close(s.out)
	if err != nil {
		logger := s.logger
		if logger == nil {
			logger = slog.Default()
		}
		logger.Error("subscription ended", "topic", s.topic, "error", err)
	}
}

// deliver passes a message to the consumer and waits for its acknowledgement.
func (s *subscription) deliver(ctx context.Context, m *outbox.Message) error {
	s.delivering.Add(1)
	defer s.delivering.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := restored(m)
	w.SetContext(ctx)
	select {
	case s.out <- w:
	case <-s.stopping:
		return outbox.Snooze(0)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-w.Acked():
		return nil
	case <-w.Nacked():
		return errNacked
	case <-ctx.Done():
		return ctx.Err()
	}
}
