package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// opened returns a pawl on a fresh database; Run returns when nothing is left to do.
func opened(ctx context.Context) (*pawl.Pawl, func()) {
	dir, err := os.MkdirTemp("", "outbox")
	must(err)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	must(err)
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)})
	must(err)
	must(p.Migrate(ctx))
	return p, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A message is enqueued, handled, and read again. Topics with a type are in package pawl.
func ExampleOutbox_Enqueue() {
	ctx := context.Background()
	p, done := opened(ctx)
	defer done()
	p.Handle("mail", func(_ context.Context, m *outbox.Message) error {
		fmt.Printf("mail %s\n", m.Payload)
		return nil
	})
	id, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail", Payload: []byte("to ada@example.com")})
	must(err)
	must(p.Run(ctx))
	m, err := p.Outbox.Get(ctx, id)
	must(err)
	fmt.Println(m.Status)
	// Output:
	// mail to ada@example.com
	// done
}

// Many messages are enqueued in one transaction.
func ExampleOutbox_EnqueueBatch() {
	ctx := context.Background()
	p, done := opened(ctx)
	defer done()
	ids, err := p.Outbox.EnqueueBatch(ctx, []outbox.Message{
		{Topic: "mail", Payload: []byte("now")},
		{Topic: "mail", Payload: []byte("tomorrow"), Due: time.Now().Add(24 * time.Hour)},
	})
	must(err)
	c, err := p.Outbox.Count(ctx)
	must(err)
	fmt.Println(len(ids), "messages:", c.Ready, "ready,", c.Scheduled, "scheduled")
	// Output: 2 messages: 1 ready, 1 scheduled
}

// What has failed is listed, and redriven once its cause is gone.
func ExampleOutbox_Redrive() {
	ctx := context.Background()
	p, done := opened(ctx)
	defer done()
	down := true
	p.Handle("mail", func(context.Context, *outbox.Message) error {
		if down {
			return outbox.Permanent(errors.New("no such mailbox"))
		}
		return nil
	})
	_, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail"})
	must(err)
	must(p.Run(ctx))
	for m, err := range p.Outbox.List(ctx, outbox.ListOptions{Status: outbox.Failed}) {
		must(err)
		fmt.Println(m.Topic, "failed:", m.LastError)
	}

	down = false
	bulk, err := p.Outbox.Redrive(ctx, outbox.FailedFilter{Topic: "mail"})
	must(err)
	must(p.Run(ctx))
	c, err := p.Outbox.Count(ctx)
	must(err)
	fmt.Println(bulk.Changed, "redriven,", c.Done, "done")
	// Output:
	// mail failed: no such mailbox
	// 1 redriven, 1 done
}

// A program with a loop of its own claims messages and settles them.
func ExampleWorkQueue() {
	ctx := context.Background()
	p, done := opened(ctx)
	defer done()
	_, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail", Payload: []byte("7")})
	must(err)

	q, owner := p.Outbox.WorkQueue(outbox.DefaultQueue), outbox.NewOwnerToken()
	messages, err := q.Claim(ctx, owner, time.Hour, 10)
	must(err)
	for _, m := range messages {
		fmt.Printf("%s %s\n", m.Topic, m.Payload)
		_, err := q.Ack(ctx, owner, m.Position)
		must(err)
	}
	// Output: mail 7
}
