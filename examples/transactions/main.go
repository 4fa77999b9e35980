// Command transactions moves money between accounts and announces it, in one transaction, with each of
// the libraries that programs use: a file each, made to be copied.
//
//	go run ./examples/transactions             on a SQLite file that is deleted in the end
//	go run ./examples/transactions -db URL     on PostgreSQL, in a schema of its own
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/bravellian/pawl"
)

// Moved announces a transfer.
var Moved = pawl.NewTopic[Transfer]("money.moved")

// Transfer is money to move.
type Transfer struct {
	From   int64 `json:"from"`
	To     int64 `json:"to"`
	Amount int64 `json:"amount"`

	at func(place) // where tests step in
}

// place is how far a transfer has got.
type place int

const (
	seen    place = iota // the balance is read, nothing is written
	written              // the rows are written, the message is not
)

func (t *Transfer) reached(p place) {
	if t.at != nil {
		t.at(p)
	}
}

// errFunds says that an account has too little.
var errFunds = errors.New("insufficient funds")

// A mover moves money with a library, and sends the message with it.
type mover func(ctx context.Context, t Transfer) error

func main() {
	url := flag.String("db", "", "the `URL` of a PostgreSQL database; default: a SQLite file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *url); err != nil {
		log.Fatal(err)
	}
}

// run has each library move money, and a worker receive what they say.
func run(ctx context.Context, url string) error {
	b, err := open(ctx, url)
	if err != nil {
		return err
	}
	defer b.close()
	for _, name := range b.libraries() {
		if err := b.movers[name](ctx, Transfer{From: 1, To: 2, Amount: 10}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := b.movers[name](ctx, Transfer{From: 1, To: 2, Amount: 1_000_000}); !errors.Is(err, errFunds) {
			return fmt.Errorf("%s moved money that is not there: %w", name, err)
		}
		fmt.Println(name, "moved 10 and announced it, and did neither with 1000000")
	}
	return b.work(ctx)
}

// work handles the messages until there are none.
func (b *bank) work(ctx context.Context) error {
	sum, n := int64(0), 0
	Moved.Handle(b.pawl, func(_ context.Context, d *pawl.Delivery[Transfer]) error {
		n, sum = n+1, sum+d.Body.Amount
		return nil
	})
	if err := b.pawl.Run(ctx); err != nil {
		return err
	}
	fmt.Printf("%d messages about %d in all\n", n, sum)
	return nil
}
