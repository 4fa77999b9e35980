package watermill_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/watermill"
	"github.com/bravellian/pawl/sqlite"
)

// shop returns a migrated database in a temporary directory.
func shop(opts pawl.Options) (*pawl.Pawl, pawl.DB, func()) {
	dir, err := os.MkdirTemp("", "watermill")
	check(err)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	check(err)
	opts.Logger = slog.New(slog.DiscardHandler) // a server leaves this out
	p, err := pawl.New(db, opts)
	check(err)
	check(p.Migrate(context.Background()))
	return p, db, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// printer stands for the publisher of a broker.
type printer struct{}

func (printer) Publish(topic string, messages ...*message.Message) error {
	for _, m := range messages {
		fmt.Printf("%s: %s\n", topic, m.Payload)
	}
	return nil
}

func (printer) Close() error { return nil }

// A message is enqueued in the transaction of the order that it announces, and published to a
// broker once that has committed.
func ExampleForward() {
	p, db, done := shop(pawl.Options{StopWhenEmpty: true}) // a server runs until its context ends
	defer done()
	watermill.Forward(p, "order.*", printer{}, watermill.ForwardOptions{})

	ctx := context.Background()
	tx, err := sqlite.SQL(db).BeginTx(ctx, nil)
	check(err)
	_, err = tx.ExecContext(ctx, `CREATE TABLE orders (number INTEGER)`)
	check(err)
	_, err = tx.ExecContext(ctx, `INSERT INTO orders VALUES (7)`)
	check(err)
	_, err = p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "order.created", Payload: []byte(`{"number":7}`)})
	check(err)
	check(tx.Commit())

	check(p.Run(ctx))
	// Output: order.created: {"number":7}
}

// Code that publishes to a message.Publisher does so in a transaction, without knowing of it.
func ExamplePublisher_WithTx() {
	p, db, done := shop(pawl.Options{StopWhenEmpty: true})
	defer done()
	publisher := watermill.NewPublisher(p, watermill.PublisherOptions{Queue: watermill.InQueue(outbox.DefaultQueue)})
	place := func(pub message.Publisher, number string) error {
		return pub.Publish("order.created", message.NewMessage("", []byte(number)))
	}

	ctx := context.Background()
	for number, commit := range map[string]bool{"7": true, "8": false} {
		tx, err := sqlite.SQL(db).BeginTx(ctx, nil)
		check(err)
		check(place(publisher.WithTx(tx), number))
		if commit {
			check(tx.Commit())
		} else {
			check(tx.Rollback())
		}
	}

	watermill.Forward(p, "*", printer{}, watermill.ForwardOptions{})
	check(p.Run(ctx))
	// Output: order.created: 7
}

// Without a broker, messages are delivered from the database.
func ExampleSubscriber() {
	p, _, done := shop(pawl.Options{})
	defer done()
	publisher := watermill.NewPublisher(p, watermill.PublisherOptions{})
	subscriber, err := watermill.NewSubscriber(p, watermill.SubscriberOptions{})
	check(err)

	messages, err := subscriber.Subscribe(context.Background(), "order.created")
	check(err)
	check(publisher.Publish("order.created", message.NewMessage("", []byte("7"))))
	m := <-messages
	fmt.Printf("%s\n", m.Payload)
	m.Ack()
	check(subscriber.Close())
	// Output: 7
}
