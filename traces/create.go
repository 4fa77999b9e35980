package traces

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl/outbox"
)

// stamp makes the headers that tell where a message came from. A message that
// brings a context of its own, whole or in part, keeps just that: half of one and
// half of another would be wrong, and a broker's message belongs to its sender's trace.
func (t *tracing) stamp(ctx context.Context, m *outbox.Message) map[string]string {
	caller := trace.SpanContextFromContext(ctx)
	begins := !caller.IsValid() && isFlow(m) && t.chosen() // its trace, which all its attempts have in common
	if !caller.IsValid() && !t.opts.Baggage && !begins || headers(m.Headers).hasAny(t.fields) {
		return nil
	}
	if (caller.IsSampled() && !t.opts.WithoutCreate || begins) && acceptable(m) {
		ctx = t.create(ctx, m)
	}
	h := make(headers, len(t.fields))
	t.propagator.Inject(ctx, h)
	return h
}

// create is a span without duration, for each message its own: what is linked to
// can be told apart, in a batch too. It is not "send", because whether the message is
// sent is decided when the caller's transaction ends.
func (t *tracing) create(ctx context.Context, m *outbox.Message) context.Context {
	attrs := append(t.about(create, m.Topic), details(m)...)
	ctx, span := t.tracer.Start(ctx, create+" "+m.Topic, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attrs...))
	span.End()
	return ctx
}

// acceptable reports whether a message is worth a span. One that will be refused is
// not: its fields could be of any size, or no text, and spoil what is exported.
func acceptable(m *outbox.Message) bool {
	bare := *m
	bare.Payload = nil // how large it may be is the outbox's to know
	return bare.Validate() == nil
}
