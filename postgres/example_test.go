package postgres_test

import (
	"context"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/postgres"
)

// Open makes a pool of its own; the program's transactions begin on it.
func Example() {
	ctx := context.Background()
	db, err := postgres.Open("postgres://app@db.example/shop")
	must(err)
	p, err := pawl.New(db, pawl.Options{})
	must(err)
	defer func() { must(p.Close()) }()
	must(p.Migrate(ctx))

	tx, err := postgres.Pool(db).Begin(ctx)
	must(err)
	_, err = tx.Exec(ctx, "INSERT INTO orders VALUES (7)")
	must(err)
	_, err = p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "order.placed"})
	must(err)
	must(tx.Commit(ctx))
}

// New takes the pool that the program has already.
func ExampleNew() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://app@db.example/shop")
	must(err)
	defer pool.Close()
	db, err := postgres.New(pool, postgres.Options{Schema: "queue"})
	must(err)
	p, err := pawl.New(db, pawl.Options{})
	must(err)
	must(p.Migrate(ctx))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
