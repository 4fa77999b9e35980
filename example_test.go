package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// temporary returns the path of a file that done removes.
func temporary(name string) (path string, done func()) {
	dir, err := os.MkdirTemp("", "pawl")
	check(err)
	return filepath.Join(dir, name), func() { _ = os.RemoveAll(dir) }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// open returns a migrated database in a temporary directory.
func open(ctx context.Context) (pawl.DB, func()) {
	path, remove := temporary("shop.db")
	db, err := sqlite.Open(path)
	check(err)
	check(db.Migrate(ctx))
	return db, func() {
		_ = db.Close()
		remove()
	}
}

type Order struct {
	Number int    `json:"number"`
	Email  string `json:"email"`
}

var OrderCreated = pawl.NewTopic[Order]("order.created") // one name and type for both sides

// An order and the message that announces it are written in one transaction: either both
// exist or neither does.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	path, done := temporary("shop.db")
	defer done()

	db, err := sqlite.Open(path)
	check(err)
	p, err := pawl.New(db, pawl.Options{})
	check(err)
	check(p.Migrate(ctx))
	OrderCreated.Handle(p, func(ctx context.Context, d *pawl.Delivery[Order]) error {
		fmt.Printf("mail to %s about order %d\n", d.Body.Email, d.Body.Number)
		stop()
		return nil
	})

	_, err = sqlite.SQL(db).ExecContext(ctx, "CREATE TABLE orders (number INTEGER PRIMARY KEY, email TEXT)")
	check(err)
	tx, err := sqlite.SQL(db).BeginTx(ctx, nil)
	check(err)
	o := Order{Number: 7, Email: "ada@example.com"}
	_, err = tx.ExecContext(ctx, "INSERT INTO orders VALUES (?, ?)", o.Number, o.Email)
	check(err)
	_, err = OrderCreated.EnqueueTx(ctx, p, tx, o)
	check(err)
	check(tx.Commit())

	check(p.Run(ctx)) // blocks until ctx ends
	check(p.Close())
	// Output: mail to ada@example.com about order 7
}

// A handler's error decides what becomes of its message.
func ExamplePawl_Handle() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	if err != nil {
		log.Fatal(err)
	}
	errClosed := errors.New("account closed")
	p.Handle("mail", func(_ context.Context, m *outbox.Message) error {
		switch string(m.Payload) {
		case "closed":
			return outbox.Permanent(errClosed) // fails now, no retry
		case "busy":
			return outbox.RetryAfter(time.Hour, errors.New("mailbox busy"))
		}
		return nil // acked
	})
	for _, body := range []string{"ok", "closed", "busy"} {
		if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail", Payload: []byte(body)}); err != nil {
			log.Fatal(err)
		}
	}
	log.SetOutput(devNull{}) // failures are logged; they would not be part of this example's output
	defer log.SetOutput(os.Stderr)
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
	c, err := p.Outbox.Count(ctx)
	fmt.Println(c.Done, "done,", c.Failed, "failed,", c.Retrying, "retrying", err)
	// Output: 1 done, 1 failed, 1 retrying <nil>
}

// A batch handler gets what has come together, and returns one result for each message.
func ExampleTopic_HandleBatch() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	if err != nil {
		log.Fatal(err)
	}
	reading := pawl.NewTopic[float64]("reading")
	reading.HandleBatch(p, func(_ context.Context, batch []*pawl.Delivery[float64]) []error {
		sum := 0.0
		for _, d := range batch {
			sum += d.Body
		}
		fmt.Printf("one insert for %d readings, %v in all\n", len(batch), sum)
		return make([]error, len(batch)) // all are done
	}, outbox.BatchOptions{Max: 100, Wait: 50 * time.Millisecond})
	if _, err := reading.EnqueueBatch(ctx, p, []float64{1.5, 2.5, 4}); err != nil {
		log.Fatal(err)
	}
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: one insert for 3 readings, 8 in all
}

// A name that ends in * stands for all topics that begin with it: a relay needs one handler.
func ExamplePawl_Handle_relay() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Concurrency: 1})
	if err != nil {
		log.Fatal(err)
	}
	p.Handle("order.*", func(_ context.Context, m *outbox.Message) error {
		fmt.Println("publish", m.Topic)
		return nil
	}, outbox.HandlerOptions{Concurrency: 5}) // no more at once in this process
	p.Handle("order.paid", func(context.Context, *outbox.Message) error {
		fmt.Println("book the payment")
		return nil
	})
	for _, topic := range []string{"order.created", "order.paid", "order.shipped"} {
		if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: topic}); err != nil {
			log.Fatal(err)
		}
	}
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// publish order.created
	// book the payment
	// publish order.shipped
}

type devNull struct{}

func (devNull) Write(p []byte) (int, error) { return len(p), nil }

// Programs that run a loop of their own claim and settle themselves.
func ExamplePawl_workQueue() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail", Payload: []byte("hello")}); err != nil {
		log.Fatal(err)
	}

	owner := outbox.NewOwnerToken() // fresh for every claim
	msgs, err := p.Outbox.WorkQueue("").Claim(ctx, owner, 30*time.Second, 50)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range msgs {
		fmt.Printf("%s: %s\n", m.Topic, m.Payload)
		n, err := p.Outbox.WorkQueue("").Ack(ctx, owner, m.Position)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("acked:", n)
	}
	// Output:
	// mail: hello
	// acked: 1
}

// Start works beside what else the program does, until Stop.
func ExamplePawl_Start() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{})
	check(err)
	handled := make(chan string)
	p.Handle("mail", func(_ context.Context, m *outbox.Message) error {
		handled <- string(m.Payload)
		return nil
	})
	check(p.Start(ctx))
	_, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail", Payload: []byte("hello")})
	check(err)
	fmt.Println(<-handled)
	check(p.Stop(ctx))
	// Output: hello
}

// Two checks of an order run side by side. What follows them reads their results.
func ExampleResults() {
	ctx := context.Background()
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	check(err)
	stock, credit, decide := pawl.NewTopic[Order]("stock"), pawl.NewTopic[Order]("credit"), pawl.NewTopic[Order]("decide")
	for _, topic := range []*pawl.Topic[Order]{stock, credit} {
		topic.Handle(p, func(ctx context.Context, d *pawl.Delivery[Order]) error {
			return pawl.SetResult(ctx, d.Message, map[string]bool{topic.Name(): true})
		})
	}
	decide.Handle(p, func(ctx context.Context, d *pawl.Delivery[Order]) error {
		for step, err := range pawl.Results[map[string]bool](ctx, p, d.Message) {
			if err != nil {
				return err
			}
			fmt.Println(step.Status, step.Value)
		}
		return nil
	})
	o := Order{Number: 7}
	_, err = p.Joins.FanOut(ctx, join.Spec{}, []outbox.Message{stock.With(o), credit.With(o)}, join.Wait{OnComplete: decide.With(o)})
	check(err)
	check(p.Run(ctx))
	// Unordered output:
	// completed map[stock:true]
	// completed map[credit:true]
}
