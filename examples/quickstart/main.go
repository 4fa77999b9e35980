// Command quickstart is the program of the README.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/sqlite"
)

type Order struct{ Number int }

var OrderPlaced = pawl.NewTopic[Order]("order.placed")

func main() {
	ctx := context.Background()
	db, err := sqlite.Open("shop.db") // or postgres.Open("postgres://localhost/shop")
	check(err)
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true}) // a service leaves this out
	check(err)
	check(p.Migrate(ctx)) // pawl's tables
	OrderPlaced.Handle(p, func(_ context.Context, d *pawl.Delivery[Order]) error {
		fmt.Println("mail about order", d.Body.Number)
		return nil // after an error it is tried again
	})

	pool := sqlite.SQL(db) // or postgres.Pool(db), a pool of pgx
	_, err = pool.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS orders (number INTEGER)")
	check(err)
	tx, err := pool.BeginTx(ctx, nil)
	check(err)
	_, err = tx.ExecContext(ctx, "INSERT INTO orders VALUES (7)")
	check(err)
	_, err = OrderPlaced.EnqueueTx(ctx, p, tx, Order{Number: 7})
	check(err)
	check(tx.Commit()) // the order and its message, or neither

	check(p.Run(ctx)) // until nothing waits; in a service until ctx ends
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
