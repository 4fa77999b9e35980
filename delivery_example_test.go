package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/outbox"
)

// quiet is a logger for examples in which attempts fail.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// A price that is a minute old is not worth sending: no attempt begins after that, a retry neither.
func ExamplePawl_expiry() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: quiet()})
	check(err)
	p.Handle("price", func(_ context.Context, m *outbox.Message) error {
		fmt.Printf("send %s\n", m.Payload)
		return nil
	})
	_, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "price", Payload: []byte("old"), Expires: time.Now().Add(-time.Second)})
	check(err)
	_, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "price", Payload: []byte("new"), Expires: time.Now().Add(time.Minute)})
	check(err)
	check(p.Run(ctx))
	c, err := p.Outbox.Count(ctx)
	fmt.Println(c.Done, "sent,", c.Expired, "expired", err)
	// Output:
	// send new
	// 1 sent, 1 expired <nil>
}

// A message that failed keeps how often and, of the last time, why; "pawl show" has each attempt.
func ExamplePawl_attempts() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: quiet()})
	check(err)
	p.Handle("mail", func(_ context.Context, m *outbox.Message) error {
		if m.RetryCount < 2 {
			return errors.New("mailbox is busy")
		}
		return nil
	}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 0 }}})
	id, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail"})
	check(err)
	check(p.Run(ctx))
	m, err := p.Outbox.Get(ctx, id)
	check(err)
	fmt.Println(m.Status, m.RetryCount, m.LastError)
	// Output: done 2 mailbox is busy
}

// A report that has waited for an hour goes before payments, which otherwise go first.
func ExamplePawl_priorityWait() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Concurrency: 1, PriorityWait: time.Hour})
	check(err)
	p.Handle("*", func(_ context.Context, m *outbox.Message) error {
		fmt.Println(m.Topic)
		return nil
	})
	for _, m := range []outbox.Message{
		{Topic: "report of today", Priority: 10},
		{Topic: "payment", Priority: -10},
		{Topic: "report of yesterday", Priority: 20, Due: time.Now().Add(-24 * time.Hour)},
	} {
		_, err := p.Outbox.Enqueue(ctx, m)
		check(err)
	}
	check(p.Run(ctx))
	// Output:
	// report of yesterday
	// payment
	// report of today
}

// The events of an account are handled one at a time and in order, while other accounts go on.
func ExamplePawl_ordering() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: quiet()})
	check(err)
	attempts := 0
	p.Handle("account", func(_ context.Context, m *outbox.Message) error {
		if attempts++; attempts == 1 {
			return errors.New("ledger is busy") // those behind it wait
		}
		fmt.Printf("%s of %s\n", m.Payload, m.OrderingKey)
		return nil
	}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 0 }}})
	for _, event := range []string{"opened", "funded", "closed"} {
		_, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "account", OrderingKey: "account-17", Payload: []byte(event)})
		check(err)
	}
	check(p.Run(ctx))
	// Output:
	// opened of account-17
	// funded of account-17
	// closed of account-17
}

// Many changes within a short time are indexed once, after a quiet minute.
func ExamplePawl_uniqueKeys() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{Logger: quiet()})
	check(err)
	var first outbox.MessageID
	for change := range 3 {
		var again bool
		id, err := p.Outbox.Enqueue(ctx, outbox.Message{
			Topic: "reindex", UniqueKey: "reindex 7", Due: time.Now().Add(time.Minute),
			Unique: &outbox.UniqueOptions{Scope: outbox.WhileNotBegun, Debounce: true, Duplicate: &again},
		})
		check(err)
		if change == 0 {
			first = id
		}
		fmt.Println("there already:", again, "the first one:", id == first)
	}
	c, err := p.Outbox.Count(ctx)
	fmt.Println(c.Scheduled, "waits", err)
	// Output:
	// there already: false the first one: true
	// there already: true the first one: true
	// there already: true the first one: true
	// 1 waits <nil>
}

// Their API takes two orders a minute, and five at once after a quiet time, from all processes
// together. What has to wait stays in the database.
func ExamplePawl_limits() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: quiet()})
	check(err)
	_, err = p.Admin.SetLimit(ctx, admin.Topic, "order", outbox.Limit{Rate: 2, Period: time.Minute, Burst: 5}, "their API")
	check(err)
	sent := 0
	p.Handle("order", func(context.Context, *outbox.Message) error { sent++; return nil }, outbox.HandlerOptions{Concurrency: 1})
	for range 8 {
		_, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "order"})
		check(err)
	}
	check(p.Run(ctx)) // until nothing is due
	limits, err := p.Admin.Limits(ctx)
	check(err)
	fmt.Println(sent, "sent,", limits[0].Waiting, "wait")
	// Output: 5 sent, 3 wait
}
