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
		p.Handle(topic, extract)
	}
	p.Handle("etl.transform", func(_ context.Context, m *outbox.Message) error {
		fmt.Println("transform", string(m.Payload))
		return nil
	})

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

// A follow-up may fan out again, and sees what became of the steps before it. The id of its
// message names the next join, so that a second delivery adds nothing.
func ExampleJoins_From() {
	ctx := context.Background()
	p, done := openPawl()
	defer done()
	p.Handle("extract", func(_ context.Context, m *outbox.Message) error {
		if string(m.Payload) == "orders" {
			return outbox.Permanent(errors.New("source is gone"))
		}
		return nil
	})
	p.Handle("transform", func(ctx context.Context, m *outbox.Message) error {
		before, err := p.Joins.From(ctx, m)
		if err != nil {
			return err
		}
		var loads []outbox.Message
		for _, err := range p.Joins.Members(ctx, before[0].ID, join.MembersOptions{Status: join.Completed}) {
			if err != nil {
				return err
			}
			loads = append(loads, outbox.Message{Topic: "load"})
		}
		fmt.Println("transform", len(loads), "of", before[0].ExpectedSteps)
		_, err = p.Joins.FanOut(ctx, join.Spec{ID: join.ID(m.ID)}, loads, join.Wait{OnComplete: outbox.Message{Topic: "report"}})
		return err
	})
	p.Handle("load", func(context.Context, *outbox.Message) error { return nil })
	p.Handle("report", func(context.Context, *outbox.Message) error {
		fmt.Println("report")
		return nil
	})

	_, err := p.Joins.FanOut(ctx, join.Spec{}, []outbox.Message{
		{Topic: "extract", Payload: []byte("customers")}, {Topic: "extract", Payload: []byte("orders")}, {Topic: "extract", Payload: []byte("products")},
	}, join.Wait{OnComplete: outbox.Message{Topic: "transform"}, AllowFailures: true})
	check(err)
	check(p.Run(ctx))
	// Output:
	// transform 2 of 3
	// report
}

// The steps of a join and how each ended. What their handlers set as a result is beside it; pawl.Results decodes it.
func ExampleJoins_Members() {
	ctx := context.Background()
	p, done := openPawl()
	defer done()
	p.Handle("extract", func(_ context.Context, m *outbox.Message) error {
		if string(m.Payload) == "orders" {
			return outbox.Permanent(errors.New("source is gone"))
		}
		return m.SetResult([]byte("40 rows"))
	})
	fan, err := p.Joins.FanOut(ctx, join.Spec{}, []outbox.Message{{Topic: "extract", Payload: []byte("customers")}, {Topic: "extract", Payload: []byte("orders")}}, join.Wait{})
	check(err)
	check(p.Run(ctx))
	for s, err := range p.Joins.Members(ctx, fan.Join, join.MembersOptions{}) {
		check(err)
		fmt.Printf("%s %q\n", s.Status, s.Result)
	}
	// Output:
	// completed "40 rows"
	// failed ""
}

// The steps one by one, as in the specification, and one of them failing.
func ExampleJoins_Wait() {
	ctx := context.Background()
	p, done := openPawl()
	defer done()
	p.Handle("extract", func(_ context.Context, m *outbox.Message) error {
		if string(m.Payload) == "orders" {
			return outbox.Permanent(errors.New("source is gone"))
		}
		return nil
	})
	p.Handle("notify.failure", func(_ context.Context, m *outbox.Message) error {
		fmt.Println("notify:", string(m.Payload))
		return nil
	})

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
