package inbox_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// openShop returns a pawl on a fresh database with a table of payments.
func openShop(opts pawl.Options) (*pawl.Pawl, pawl.DB, func()) {
	dir, err := os.MkdirTemp("", "pawl")
	check(err)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	check(err)
	p, err := pawl.New(db, opts)
	check(err)
	check(p.Migrate(context.Background()))
	_, err = sqlite.SQL(db).Exec("CREATE TABLE payments (invoice TEXT, cents INTEGER)")
	check(err)
	return p, db, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

// A broker delivers a message three times; the payment is booked once, and the
// receipt that follows from it exists once.
func ExampleInbox_Once() {
	ctx := context.Background()
	p, db, done := openShop(pawl.Options{})
	defer done()
	key := inbox.Key{Source: "bank", MessageID: "tx-4711"}
	for range 3 {
		err := p.Inbox.Once(ctx, key, func(ctx context.Context, tx outbox.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO payments VALUES ('2026-7', 1999)"); err != nil {
				return err
			}
			_, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "receipt.send"})
			return err
		})
		check(err) // now the delivery can be confirmed to the broker
	}
	var payments int
	check(sqlite.SQL(db).QueryRow("SELECT count(*) FROM payments").Scan(&payments))
	receipts, err := p.Outbox.Count(ctx)
	check(err)
	known, err := p.Inbox.Get(ctx, key)
	check(err)
	fmt.Println(payments, "payment,", receipts.Ready, "receipt,", known.Deliveries, "deliveries,", known.Status)
	// Output: 1 payment, 1 receipt, 3 deliveries, Done
}

// A webhook only stores what it is sent; workers process it, once.
func ExampleInbox_Enqueue() {
	ctx := context.Background()
	p, _, done := openShop(pawl.Options{StopWhenEmpty: true})
	defer done()
	p.HandleInboxTx("payment.received", func(ctx context.Context, tx outbox.Tx, m *inbox.Message) error {
		fmt.Println("booking", m.MessageID, string(m.Payload))
		_, err := tx.ExecContext(ctx, "INSERT INTO payments VALUES ('2026-7', 1999)")
		return err
	})
	for range 2 {
		added, err := p.Inbox.Enqueue(ctx, inbox.Message{
			Key: inbox.Key{Source: "bank", MessageID: "tx-4711"}, Topic: "payment.received", Payload: []byte(`{"cents":1999}`),
		})
		check(err)
		fmt.Println("new:", added)
	}
	check(p.Run(ctx))
	// Output:
	// new: true
	// new: false
	// booking tx-4711 {"cents":1999}
}
