package pawltest_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/pawltest"
)

// Order is what the program under test is about.
type Order struct {
	Number int    `json:"number"`
	Email  string `json:"email"`
}

// OrderCreated announces orders.
var OrderCreated = pawl.NewTopic[Order]("order.created")

// PlaceOrder is the code under test: it stores an order and announces it, in one
// transaction.
func PlaceOrder(ctx context.Context, db *sql.DB, p *pawl.Pawl, o Order) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders VALUES ($1, $2)", o.Number, o.Email); err != nil {
		return err
	}
	if _, err := OrderCreated.EnqueueTx(ctx, p, tx, o); err != nil {
		return err
	}
	return tx.Commit()
}

// testPlaceOrder is what its test does: one would begin with a capital and have a *testing.T.
func testPlaceOrder(t testing.TB) {
	d := pawltest.New(t) // on PostgreSQL: pawltest.Postgres(t, url)
	if _, err := d.SQL().Exec("CREATE TABLE orders (number INTEGER PRIMARY KEY, email TEXT)"); err != nil {
		t.Fatal(err)
	}
	OrderCreated.Handle(d, func(_ context.Context, o *pawl.Delivery[Order]) error {
		fmt.Printf("mail to %s about order %d\n", o.Body.Email, o.Body.Number)
		return nil
	})

	order := Order{Number: 7, Email: "ada@example.com"}
	if err := PlaceOrder(t.Context(), d.SQL(), d.Pawl, order); err != nil {
		t.Fatal(err)
	}
	d.AssertEnqueued(t, pawltest.Topic("order.created"), pawltest.JSON(order))
	d.MustDrain(t)

	// The number is taken: neither the order nor its message is stored.
	if err := PlaceOrder(t.Context(), d.SQL(), d.Pawl, Order{Number: 7, Email: "eve@example.com"}); err == nil {
		t.Error("two orders have one number")
	}
	d.AssertNotEnqueued(t, pawltest.JSONBody(func(o Order) bool { return o.Email == "eve@example.com" }))
}

// A test of code that enqueues: what it enqueued is asserted, then handled.
func Example() {
	run(testPlaceOrder)
	// Output:
	// mail to ada@example.com about order 7
	// PASS
}
