package join_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// openPawl returns a pawl on a fresh database; Run returns when nothing is left to do.
func openPawl() (*pawl.Pawl, func()) {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sqlite.Open(filepath.Join(dir, "etl.db"))
	if err != nil {
		log.Fatal(err)
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := pawl.New(db, pawl.Options{EnableSchemaDeployment: true, StopWhenEmpty: true, Logger: quiet})
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
	return p, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Three extracts run side by side; when the last is done, the transform starts.
// The handlers know nothing of that: acking a message counts it.
func ExampleJoins_FanOut() {
	ctx := context.Background()
	p, done := openPawl()
	defer done()
	extract := func(context.Context, *outbox.Message) error { return nil }
	for _, topic := range []string{"extract.customers", "extract.orders", "extract.products"} {
		p.Handle(topic, outbox.HandlerFunc(extract))
	}
	p.Handle("etl.transform", outbox.HandlerFunc(func(_ context.Context, m *outbox.Message) error {
		fmt.Println("transform", string(m.Payload))
		return nil
	}))

	fan, err := p.Joins.FanOut(ctx, join.Spec{GroupingKey: "customer-7", Metadata: `{"type":"etl","phase":"extract"}`},
		[]outbox.Message{{Topic: "extract.customers"}, {Topic: "extract.orders"}, {Topic: "extract.products"}},
		join.Wait{OnComplete: outbox.Message{Topic: "etl.transform", Payload: []byte(`{"customer":7}`)}})
	check(err)

	check(p.Run(ctx))
	j, err := p.Joins.Get(ctx, fan.Join)
	check(err)
	fmt.Println(j.CompletedSteps, "of", j.ExpectedSteps, j.Status)
	// Output:
	// transform {"customer":7}
	// 3 of 3 completed
}

// The steps one by one, as in the specification, and one of them failing.
func ExampleJoins_Wait() {
	ctx := context.Background()
	p, done := openPawl()
	defer done()
	p.Handle("extract", outbox.HandlerFunc(func(_ context.Context, m *outbox.Message) error {
		if string(m.Payload) == "orders" {
			return outbox.Permanent(errors.New("source is gone"))
		}
		return nil
	}))
	p.Handle("notify.failure", outbox.HandlerFunc(func(_ context.Context, m *outbox.Message) error {
		fmt.Println("notify:", string(m.Payload))
		return nil
	}))

	id, err := p.Joins.Start(ctx, join.Spec{ExpectedSteps: 3, GroupingKey: "customer-7"})
	check(err)
	for _, source := range []string{"customers", "orders", "products"} {
		m, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "extract", Payload: []byte(source)})
		check(err)
		check(p.Joins.Attach(ctx, id, m))
	}
	_, err = p.Joins.Wait(ctx, id, join.Wait{
		OnComplete: outbox.Message{Topic: "etl.transform"},
		OnFail:     outbox.Message{Topic: "notify.failure", Payload: []byte("some extractions failed")},
	})
	check(err)

	check(p.Run(ctx))
	j, err := p.Joins.Get(ctx, id)
	check(err)
	fmt.Println(j.CompletedSteps, "completed,", j.FailedSteps, "failed:", j.Status)
	// Output:
	// notify: some extractions failed
	// 2 completed, 1 failed: failed
}
