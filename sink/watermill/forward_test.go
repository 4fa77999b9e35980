package watermill_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/watermill"
)

// published is a call of a broker's Publish.
type published struct {
	topic    string
	messages []*message.Message
}

func (p published) uuids() (all []string) {
	for _, m := range p.messages {
		all = append(all, m.UUID)
	}
	return all
}

// broker is a publisher that keeps what it gets, and fails when fail says so.
type broker struct {
	mu    sync.Mutex
	calls []published
	fail  func(published) error
}

func (b *broker) Publish(topic string, messages ...*message.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := published{topic, messages}
	b.calls = append(b.calls, c)
	if b.fail != nil {
		return b.fail(c)
	}
	return nil
}

func (b *broker) Close() error { return nil }

// D-230: a message is published under its id, with everything that it has, to its topic.
func TestForward(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		opts := quick()
		opts.StopWhenEmpty = true
		p, _ := open(t, e, opts)
		b := &broker{}
		watermill.Forward(p, "order.*", b, watermill.ForwardOptions{
			Topic: func(m *outbox.Message) string { return "shop." + m.Topic },
		})
		ids, err := p.Outbox.EnqueueBatch(t.Context(), []outbox.Message{
			{Topic: "order.created", Payload: []byte("1"), Headers: map[string]string{"traceparent": "tp", "h": "v"}, CorrelationID: "c-7", OrderingKey: "k"},
			{Topic: "order.paid", Payload: []byte("2")},
			{Topic: "order.created", Payload: []byte("3")},
		})
		must(t, err)
		must(t, p.Run(t.Context()))

		byTopic := map[string][]*message.Message{}
		for _, c := range b.calls {
			byTopic[c.topic] = append(byTopic[c.topic], c.messages...)
		}
		created, paid := byTopic["shop.order.created"], byTopic["shop.order.paid"]
		// What has an ordering key has no order among others.
		slices.SortFunc(created, func(a, b *message.Message) int { return bytes.Compare(a.Payload, b.Payload) })
		if len(created) != 2 || len(paid) != 1 || len(byTopic) != 2 {
			t.Fatalf("published %v", byTopic)
		}
		for i, m := range []*message.Message{paid[0], created[0], created[1]} {
			if want := []outbox.MessageID{ids[1], ids[0], ids[2]}[i]; m.UUID != want.String() || string(m.Payload) != []string{"2", "1", "3"}[i] {
				t.Errorf("%s with %q, want %s", m.UUID, m.Payload, want)
			}
		}
		want := message.Metadata{"traceparent": "tp", "h": "v", middleware.CorrelationIDMetadataKey: "c-7", watermill.OrderingKeyMetadata: "k"}
		if !maps.Equal(created[0].Metadata, want) || len(created[1].Metadata) != 0 {
			t.Errorf("metadata %v and %v", created[0].Metadata, created[1].Metadata)
		}
		for id, want := range map[int]string{0: "k", 1: created[1].UUID} {
			if key, err := watermill.PartitionKey("t", created[id]); key != want || err != nil {
				t.Errorf("partition key %q, %v", key, err)
			}
		}
		for _, id := range ids {
			wantStatus(t, p, id, outbox.Done, 0)
		}
	})
}

// batchOf is messages as a handler gets them: topics with a ! have failed before.
func batchOf(topics ...string) (all []*outbox.Message) {
	for i, topic := range topics {
		m := &outbox.Message{ID: outbox.MessageID{15: byte(i)}, Topic: strings.TrimSuffix(topic, "!")}
		if m.Topic != topic {
			m.RetryCount = 1
		}
		all = append(all, m)
	}
	return all
}

// D-230: a call for each topic, in the order of the messages; what failed before is alone.
func TestForwardGroups(t *testing.T) {
	for _, tt := range []struct {
		batch, want []string
	}{
		{[]string{"a", "b", "a", "a", "b"}, []string{"a 0 2 3", "b 1 4"}},
		{[]string{"a", "a!", "a", "b", "a"}, []string{"a 0", "a 1", "a 2 4", "b 3"}},
		{[]string{"a!", "a!", "b", "a"}, []string{"a 0", "a 1", "b 2", "a 3"}},
	} {
		b := &broker{}
		results := watermill.BatchHandler(b, watermill.ForwardOptions{})(t.Context(), batchOf(tt.batch...))
		var got []string
		for _, c := range b.calls {
			text := c.topic
			for _, uuid := range c.uuids() {
				text += " " + uuid[len(uuid)-1:]
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.want) || len(results) != len(tt.batch) || slices.ContainsFunc(results, isError) {
			t.Errorf("%v: calls %q, results %v", tt.batch, got, results)
		}
	}
}

func isError(err error) bool { return err != nil }

// D-230: an error fails every message of its call and no other.
func TestForwardErrors(t *testing.T) {
	down := errors.New("broker down")
	b := &broker{fail: func(c published) error {
		if c.topic == "b" {
			return down
		}
		return nil
	}}
	handle := watermill.BatchHandler(b, watermill.ForwardOptions{})
	results := handle(t.Context(), batchOf("a", "b", "c", "b", "b!"))
	for i, failed := range []bool{false, true, false, true, true} {
		if isError(results[i]) != failed || failed && !strings.Contains(results[i].Error(), "broker down") {
			t.Errorf("message %d: %v", i, results[i])
		}
	}
	if !errors.Is(results[4], down) || len(b.calls) != 4 {
		t.Errorf("of a call of its own: %v; %d calls", results[4], len(b.calls))
	}
}

// D-230: a message that the broker refuses keeps no other back, and is refused for good alone.
func TestForwardPoison(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		opts := quick()
		p, _ := open(t, e, opts)
		b := &broker{fail: func(c published) error {
			if slices.ContainsFunc(c.messages, func(m *message.Message) bool { return string(m.Payload) == "poison" }) {
				return outbox.Permanent(errors.New("refused"))
			}
			return nil
		}}
		watermill.Forward(p, "*", b, watermill.ForwardOptions{
			Batch:   outbox.BatchOptions{Max: 4, Wait: patience}, // all four are together, at first and when they are tried again
			Handler: outbox.HandlerOptions{Retry: opts.Retry},
		})
		ids, err := p.Outbox.EnqueueBatch(t.Context(), []outbox.Message{
			{Topic: "t"}, {Topic: "t", Payload: []byte("poison")}, {Topic: "t"}, {Topic: "t"},
		})
		must(t, err)
		runUntil(t, p, "nothing waits", func() bool {
			c, err := p.Outbox.Count(t.Context())
			must(t, err)
			return c.Done+c.Failed == int64(len(ids))
		})
		for i, id := range ids {
			if i == 1 {
				wantStatus(t, p, id, outbox.Failed, 1) // the last attempt is no retry
			} else {
				wantStatus(t, p, id, outbox.Done, 1)
			}
		}
		seen := map[string]int{}
		for _, c := range b.calls {
			for _, uuid := range c.uuids() {
				seen[uuid]++
			}
		}
		if len(seen) != len(ids) || len(b.calls) != 1+len(ids) {
			t.Errorf("%d calls with %v", len(b.calls), seen)
		}
	})
}

// D-230: when the worker stops, what was not published yet stays, without an attempt.
func TestForwardStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	b := &broker{fail: func(c published) error {
		stop()
		return c.messages[0].Context().Err()
	}}
	results := watermill.BatchHandler(b, watermill.ForwardOptions{})(ctx, batchOf("a", "a", "b"))
	for i, err := range results {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if len(b.calls) != 1 {
		t.Errorf("%d calls", len(b.calls))
	}
}

// registered keeps what Forward registers.
type registered struct {
	pawl.Handlers
	opts []outbox.HandlerOptions
}

func (r *registered) Handle(string, outbox.Handler, ...outbox.HandlerOptions) {}

func (r *registered) HandleBatch(_ string, _ outbox.BatchHandler, _ outbox.BatchOptions, opts ...outbox.HandlerOptions) {
	r.opts = opts
}

// D-230: an outage of the broker fails no message, however long it takes.
func TestForwardRetries(t *testing.T) {
	r := &registered{}
	watermill.Forward(r, "*", &broker{}, watermill.ForwardOptions{})
	if retry := r.opts[0].Retry; retry == nil || retry.MaxAttempts != 0 {
		t.Errorf("retry %+v", retry)
	}
	own := &outbox.RetryPolicy{MaxAttempts: 3}
	watermill.Forward(r, "*", &broker{}, watermill.ForwardOptions{Handler: outbox.HandlerOptions{Retry: own}})
	if r.opts[0].Retry != own {
		t.Errorf("retry %+v", r.opts[0].Retry)
	}
}
