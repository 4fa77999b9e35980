package traces

import (
	"cmp"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/bravellian/pawl/outbox"
)

// The operations, by the conventions' names.
const (
	create  = "create"
	process = "process"
)

// What the conventions have no name for.
const (
	keyQueue    = "pawl.queue"
	keyPriority = "pawl.priority"
	keyAttempt  = "pawl.attempt" // 1 at first
	keyOutcome  = "pawl.outcome"
	keyStore    = "pawl.store"
	keyStep     = "pawl.flow.step"
)

// about is what samplers may want to know: few values for many messages.
func (t *tracing) about(operation, topic string) []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		semconv.MessagingSystemKey.String("pawl"),
		semconv.MessagingOperationName(operation),
		semconv.MessagingOperationTypeKey.String(operation),
		semconv.MessagingDestinationName(topic),
	}
	return append(attrs, t.opts.Attributes...)
}

// details are of one message. Before it is enqueued it has no id, unless the caller
// gave it one.
func details(m *outbox.Message) []attribute.KeyValue {
	attrs := make([]attribute.KeyValue, 0, 6)
	attrs = append(attrs,
		semconv.MessagingMessageBodySize(len(m.Payload)),
		attribute.String(keyQueue, cmp.Or(m.Queue, outbox.DefaultQueue)),
		attribute.Int(keyPriority, m.Priority),
	)
	if !m.ID.IsZero() {
		attrs = append(attrs, semconv.MessagingMessageID(m.ID.String()))
	}
	if m.CorrelationID != "" {
		// Other programs may have written the row, and exporters refuse what is no text.
		attrs = append(attrs, semconv.MessagingMessageConversationID(strings.ToValidUTF8(m.CorrelationID, "\uFFFD")))
	}
	return attrs
}
