package traces

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl/internal/worker"
)

// What the loop has no word for, since it knows more: an error, of which only the
// policy says if the message is tried again.
const (
	outcomeError = "error"
	outcomePanic = "panic"
)

// finish says on the span what became of the attempt, and ends it, come what may:
// errors are the program's, and their methods can panic.
func finish(ctx context.Context, span trace.Span, err error, panicked any) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	if panicked != nil {
		span.SetAttributes(attribute.String(keyOutcome, outcomePanic), semconv.ErrorTypeKey.String(outcomePanic))
		failed(span, fmt.Sprintf("panic: %v", panicked), fmt.Sprintf("%T", panicked), semconv.ExceptionStacktrace(string(debug.Stack())))
		return
	}
	outcome, bad := judge(ctx, err)
	span.SetAttributes(attribute.String(keyOutcome, outcome))
	if bad {
		kind := semconv.ErrorType(telling(err))
		span.SetAttributes(kind)
		failed(span, err.Error(), kind.Value.AsString())
	}
}

// judge finds the word for what an error means to the worker loop, and whether that
// is a failure. A handler that we stop has not failed.
func judge(ctx context.Context, err error) (outcome string, bad bool) {
	switch {
	case err == nil:
		return worker.OutcomeAcked.String(), false
	case errors.Is(err, worker.ErrSettled):
		return worker.OutcomeSettled.String(), false
	case worker.IsSnooze(err):
		return worker.OutcomeSnoozed.String(), false
	}
	final := worker.IsPermanent(err)
	if !final || errors.Is(err, context.Canceled) {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, worker.ErrLeaseLost):
			return worker.OutcomeLost.String(), true
		case errors.Is(cause, worker.ErrStopping):
			return worker.OutcomeReleased.String(), false
		}
	}
	if final {
		return worker.OutcomeFailed.String(), true
	}
	return outcomeError, true
}

// failed marks a span. The text is cut as it is for the database.
func failed(span trace.Span, text, kind string, more ...attribute.KeyValue) {
	text = worker.ErrorText(text)
	attrs := append(more, semconv.ExceptionType(kind), semconv.ExceptionMessage(text))
	span.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(attrs...))
	span.SetStatus(codes.Error, text)
}

// telling returns the error in err's chain whose type says most: not one that only
// wraps another, to add words or to say what is to become of the message. Of several
// it is the first; what follows came of that.
func telling(err error) error {
	if named := (interface{ ErrorType() string })(nil); errors.As(err, &named) {
		return err // it has a name for itself
	}
	for {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			inner = joined.Unwrap()[0]
		} else if inner == nil || inner.Error() != err.Error() && fmt.Sprintf("%T", err) != "*fmt.wrapError" {
			return err
		}
		err = inner
	}
}
