package traces

import (
	"context"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl/outbox"
)

// heading is what the spans of a topic have in common.
type heading struct {
	topic, name string
	opts        []trace.SpanStartOption
}

func (t *tracing) heading(topic string) *heading {
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(t.about(process, topic)...)}
	if !t.opts.Child {
		opts = append(opts, trace.WithNewRoot())
	}
	return &heading{topic: topic, name: process + " " + topic, opts: slices.Clip(opts)}
}

// wrap gives every attempt a span.
func (t *tracing) wrap(next outbox.Handler) outbox.Handler {
	var known atomic.Pointer[heading] // a handler has one topic
	return outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) (err error) {
		head := known.Load()
		if head == nil || head.topic != m.Topic {
			head = t.heading(m.Topic)
			known.Store(head)
		}
		ctx, span := t.start(ctx, head, m)
		defer func() {
			panicked := recover()
			finish(ctx, span, err, panicked)
			if panicked != nil {
				panic(panicked) // the stack is still there for whoever looks next
			}
		}()
		return next.Handle(ctx, m)
	})
}

// start begins the span of an attempt: a root, or the child of what the message
// came from. In whatever span Run was called, that one lasts as long as the process.
func (t *tracing) start(ctx context.Context, head *heading, m *outbox.Message) (context.Context, trace.Span) {
	if trace.SpanContextFromContext(ctx).IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	}
	opts := head.opts
	if len(m.Headers) > 0 {
		ctx = t.propagator.Extract(ctx, headers(m.Headers))
		if origin := trace.SpanContextFromContext(ctx); origin.IsValid() {
			opts = append(opts, trace.WithLinks(trace.Link{SpanContext: origin}))
		}
	}
	ctx, span := t.tracer.Start(ctx, head.name, opts...)
	if span.IsRecording() {
		span.SetAttributes(append(details(m), attribute.Int(keyAttempt, m.RetryCount+1))...)
	}
	return ctx, span
}
