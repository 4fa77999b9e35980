package sqlserver_test

import (
	"context"
	"log"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlserver"
)

// Open makes a pool of its own; the program's transactions begin on it.
func Example() {
	ctx := context.Background()
	db, err := sqlserver.Open("sqlserver://app@db.example?database=shop")
	must(err)
	p, err := pawl.New(db, pawl.Options{})
	must(err)
	defer func() { must(p.Close()) }()
	must(p.Migrate(ctx))

	tx, err := sqlserver.SQL(db).BeginTx(ctx, nil)
	must(err)
	_, err = tx.ExecContext(ctx, "INSERT INTO orders VALUES (7)")
	must(err)
	_, err = p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "order.placed"})
	must(err)
	must(tx.Commit())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
