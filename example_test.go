package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/outbox"
)

// open returns a migrated database in a temporary directory.
func open(ctx context.Context) (*sqlite.DB, func()) {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	return db, func() {
		_ = db.Close()
		_ = os.RemoveAll(dir)
	}
}

type order struct {
	Number int    `json:"number"`
	Email  string `json:"email"`
}

// An order and the message that announces it are written in one transaction:
// either both exist or neither does.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	db, done := open(ctx)
	defer done()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	p.Handle("order.created", outbox.JSON(func(_ context.Context, o order) error {
		fmt.Printf("mail to %s about order %d\n", o.Email, o.Number)
		stop()
		return nil
	}))

	shop := db.SQL()
	if _, err := shop.Exec("CREATE TABLE orders (number INTEGER PRIMARY KEY, email TEXT)"); err != nil {
		log.Fatal(err)
	}
	tx, err := shop.BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	o := order{Number: 7, Email: "ada@example.com"}
	if _, err := tx.Exec("INSERT INTO orders VALUES (?, ?)", o.Number, o.Email); err != nil {
		log.Fatal(err)
	}
	body, _ := json.Marshal(o)
	if _, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "order.created", Payload: body}); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}

	if err := p.Run(ctx); err != nil { // blocks until ctx ends
		log.Fatal(err)
	}
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
	p.Handle("mail", outbox.HandlerFunc(func(_ context.Context, m *outbox.Message) error {
		switch string(m.Payload) {
		case "closed":
			return outbox.Permanent(errClosed) // fails now, no retry
		case "busy":
			return outbox.RetryAfter(time.Hour, errors.New("mailbox busy"))
		}
		return nil // acked
	}))
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
	fmt.Println(c.Done, "done,", c.Failed, "failed,", c.Scheduled, "scheduled", err)
	// Output: 1 done, 1 failed, 1 scheduled <nil>
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
	msgs, err := p.Outbox.Claim(ctx, owner, 30*time.Second, 50)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range msgs {
		fmt.Printf("%s: %s\n", m.Topic, m.Payload)
		n, err := p.Outbox.Ack(ctx, owner, m.WorkItemID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("acked:", n)
	}
	// Output:
	// mail: hello
	// acked: 1
}
