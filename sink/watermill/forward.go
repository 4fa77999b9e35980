package watermill

import (
	"context"
	"errors"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
)

// ForwardOptions configure Forward. The zero value is right for most.
type ForwardOptions struct {
	// Topic returns the topic to which a message is published; nil: its own topic.
	Topic func(m *outbox.Message) string
	// Batch says how many messages are published together.
	Batch outbox.BatchOptions
	// Handler are the options of the handler. Its Retry is, if nil, without a limit of
	// attempts, 1, 2, 4 … 60 s apart: an outage of the broker fails no message. Its
	// Concurrency is how many batches are published at once, default 1.
	Handler outbox.HandlerOptions
}

// Forward publishes the messages of a topic, or of all topics that a name such as "order.*" or
// "*" stands for, by pub. Call it before Run. The caller closes pub after Run has returned.
//
// A message is published under its id as the UUID, the same at every attempt, so that brokers
// and consumers recognize one that was published before. Its headers, correlation id and
// ordering key are the metadata. See BatchHandler for errors.
func Forward(on pawl.Handlers, topic string, pub message.Publisher, opts ForwardOptions) {
	if opts.Handler.Retry == nil {
		opts.Handler.Retry = &outbox.RetryPolicy{Jitter: 0.1}
	}
	on.HandleBatch(topic, BatchHandler(pub, opts), opts.Batch, opts.Handler)
}

// BatchHandler returns a handler that publishes messages by pub, for programs that register it
// themselves; of opts it uses Topic.
//
// Messages of a batch that have the same target topic are published by one call, in their
// order. If the call fails, each of them is tried again, those that were published as well; by
// then each is published by a call of its own, so that one that the broker refuses keeps no
// other back. Calls for other topics go on. An error made by outbox.Permanent fails a message
// for good only in a call of its own.
func BatchHandler(pub message.Publisher, opts ForwardOptions) outbox.BatchHandler {
	target := opts.Topic
	if target == nil {
		target = func(m *outbox.Message) string { return m.Topic }
	}
	return func(ctx context.Context, messages []*outbox.Message) []error {
		results := make([]error, len(messages))
		for _, c := range callsOf(messages, target) {
			err := c.publish(ctx, pub, messages)
			for _, i := range c.members {
				results[i] = err
			}
		}
		return results
	}
}

// call is the messages that are published together.
type call struct {
	topic   string
	members []int // in the batch
}

// callsOf groups the messages of a batch by target topic. One that failed before is alone, and
// those behind it begin another group, so that the messages of a topic keep their order.
func callsOf(messages []*outbox.Message, target func(*outbox.Message) string) []*call {
	var calls []*call
	open := make(map[string]*call)
	for i, m := range messages {
		topic := target(m)
		c := open[topic]
		if c == nil || m.RetryCount > 0 {
			c = &call{topic: topic}
			calls = append(calls, c)
			open[topic] = c
		}
		c.members = append(c.members, i)
		if m.RetryCount > 0 {
			delete(open, topic)
		}
	}
	return calls
}

// publish publishes the call's messages, unless ctx has ended.
func (c *call) publish(ctx context.Context, pub message.Publisher, messages []*outbox.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	out := make([]*message.Message, len(c.members))
	for i, member := range c.members {
		out[i] = toWatermill(messages[member])
		out[i].SetContext(ctx)
	}
	err := pub.Publish(c.topic, out...)
	switch {
	case err == nil:
		return nil
	case len(out) == 1:
		return fmt.Errorf("publish to %q: %w", c.topic, err)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ctx.Err()
	}
	// What the error asks for may hold for one of the messages only, hence no %w.
	return fmt.Errorf("publish %d messages to %q: %v", len(out), c.topic, err)
}
