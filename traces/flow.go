package traces

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func isFlow(m *outbox.Message) bool { return strings.HasPrefix(m.Topic, flow.TopicPrefix) }

// step gives a step of a flow a span within that of the attempt, if that has one.
func (t *tracing) step(ctx context.Context, s worker.Step) (context.Context, func(outcome string, err error)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(string, error) {}
	}
	ctx, span := t.tracer.Start(ctx, "step "+s.Name, trace.WithAttributes(t.opts.Attributes...), trace.WithAttributes(
		semconv.MessagingDestinationName(s.Topic), attribute.String(keyStep, s.Name), attribute.Int(keyAttempt, s.Attempt)))
	return ctx, func(outcome string, err error) {
		defer span.End() // come what may: errors are the program's
		span.SetAttributes(attribute.String(keyOutcome, outcome))
		if err != nil {
			kind := semconv.ErrorType(telling(err))
			span.SetAttributes(kind)
			failed(span, err.Error(), kind.Value.AsString())
		}
	}
}
