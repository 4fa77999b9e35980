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
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true}) // a service leaves it out: Run ends with ctx
	check(err)
	check(p.Migrate(ctx))
	OrderPlaced.Handle(p, func(_ context.Context, d *pawl.Delivery[Order]) error {
		fmt.Println("mail about order", d.Body.Number)
		return nil // after an error it is tried again
	})

	tx, err := sqlite.SQL(db).BeginTx(ctx, nil)
	check(err)
	_, err = tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS orders AS SELECT 7 AS number")
	check(err)
	_, err = OrderPlaced.EnqueueTx(ctx, p, tx, Order{Number: 7}) // exists if your rows do
	check(err)
	check(tx.Commit())

	check(p.Run(ctx))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
