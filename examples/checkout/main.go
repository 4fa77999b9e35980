// Command checkout is a flow: it charges a card, waits for an approval, and books the order; or gives the money back.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

func main() {
	path := flag.String("db", "checkout.db", "the SQLite file")
	key := flag.String("order", "7", "the order's number")
	flag.Parse()
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	db, err := sqlite.Open(*path)
	check(err)
	defer func() { check(db.Close()) }()
	p, err := pawl.New(db, pawl.Options{})
	check(err)
	check(p.Migrate(ctx))
	check(tables(ctx, sqlite.SQL(db)))

	var id outbox.MessageID
	switch verb := flag.Arg(0); verb {
	case "start":
		// A key is one flow: starting it again starts nothing.
		id, err = Checkout.Start(ctx, p, Order{Number: *key, Cents: 4200}, flow.Options{Key: *key})
		check(err)
		fmt.Println("started", id)
	case "approve", "reject":
		id = Checkout.ID(*key)
		check(Decided.Send(ctx, p, id, Decision{By: "ann", OK: verb == "approve"}))
		fmt.Println("sent")
	case "work":
		Checkout.Handle(p)
		check(p.Run(ctx))
	case "result":
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		receipt, err := Checkout.Await(ctx, p, Checkout.ID(*key))
		var end *outbox.EndError
		if errors.As(err, &end) {
			fmt.Println("failed:", end.Reason)
			return
		}
		check(err)
		fmt.Println(receipt)
	default:
		log.Fatal("want start, work, approve, reject or result")
	}
}

func tables(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS booking (number TEXT PRIMARY KEY, charge TEXT NOT NULL, approved_by TEXT NOT NULL)")
	return err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
