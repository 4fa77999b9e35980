package traces_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/traces"
)

// An order is placed in one trace and its mail sent in another; the link leads from
// the mail to the order. A program exports its spans to where it looks at them, and
// has otel know the provider; here they are only kept.
func Example() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	p, err := pawl.New(db, pawl.Options{
		EnableSchemaDeployment: true, StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler), // a server leaves these out
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	kept := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(kept))

	// With otel.SetTracerProvider: traces.Options{}.
	if err := traces.Instrument(p, traces.Options{TracerProvider: provider}); err != nil {
		log.Fatal(err)
	}
	p.Handle("mail.send", func(context.Context, *outbox.Message) error { return nil })

	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	request, span := provider.Tracer("shop").Start(ctx, "POST /orders")
	if _, err := p.Outbox.Enqueue(request, outbox.Message{Topic: "mail.send"}); err != nil {
		log.Fatal(err)
	}
	span.End()
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}

	order := span.SpanContext().TraceID()
	for _, s := range kept.Ended() {
		fmt.Printf("%-17s in the order's trace: %v", s.Name(), s.SpanContext().TraceID() == order)
		for _, link := range s.Links() {
			fmt.Printf(", linked to it: %v", link.SpanContext.TraceID() == order)
		}
		fmt.Println()
	}
	// Output:
	// create mail.send  in the order's trace: true
	// POST /orders      in the order's trace: true
	// process mail.send in the order's trace: false, linked to it: true
}
