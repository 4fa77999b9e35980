package flow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

type order struct {
	ID    string
	Cents int
}

type decision struct{ By string }

// decided is sent by whoever approves an order: another program, a webhook, a person.
var decided = flow.NewSignal[decision]("approval")

// checkout charges, waits for an approval, and ships. Each step runs once, whatever happens in between.
var checkout = flow.New("checkout", func(f *flow.Run, o order) (string, error) {
	charge, err := flow.Step(f, "charge", func(context.Context) (string, error) {
		return "ch_1", nil // a call of the payment service, with f.Key("charge") as its idempotency key
	})
	if err != nil {
		return "", err
	}
	f.Undo("charge", func(context.Context) error {
		fmt.Println("refunded", charge)
		return nil
	})
	d, err := flow.Wait[decision](f, "approval", flow.Within(72*time.Hour))
	if err != nil {
		return "", err
	}
	err = flow.StepTx(f, "ship", func(ctx context.Context, tx pawl.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO shipment (order_id) VALUES ('"+o.ID+"')")
		return err
	})
	return charge + ", approved by " + d.By, err
})

// A flow with a step, a signal, and a step in a transaction.
func Example() {
	ctx := context.Background()
	p, done := shop(ctx)
	defer done()

	checkout.Handle(p)
	must(p.Start(ctx))
	id, err := checkout.Start(ctx, p, order{ID: "7", Cents: 4200}, flow.Options{Key: "order-7"})
	must(err)
	must(decided.Send(ctx, p, id, decision{By: "ann"}))
	fmt.Println(checkout.Await(ctx, p, id))
	must(p.Stop(ctx))
	// Output: ch_1, approved by ann <nil>
}

// A flow that is cancelled does none of the steps that it has not begun, and undoes the others.
func ExampleFlows_Cancel() {
	ctx := context.Background()
	p, done := shop(ctx)
	defer done()

	id, err := checkout.Start(ctx, p, order{ID: "8", Cents: 100})
	must(err)
	must(p.Flows().Cancel(ctx, id))

	checkout.Handle(p)
	must(p.Start(ctx))
	_, err = checkout.Await(ctx, p, id)
	var end *outbox.EndError
	if errors.As(err, &end) {
		fmt.Println(end.Status, end.Reason)
	}
	must(p.Stop(ctx))
	// Output: discarded cancelled
}

// Parts of a step run as messages of their own, on any worker, and their results come back in order.
func ExampleAll() {
	ctx := context.Background()
	p, done := shop(ctx)
	defer done()

	lengths := flow.New("lengths", func(f *flow.Run, words []string) ([]int, error) {
		return flow.All(f, "count", words, func(_ context.Context, word string) (int, error) { return len(word), nil })
	})
	lengths.Handle(p)
	must(p.Start(ctx))
	id, err := lengths.Start(ctx, p, []string{"extract", "join", "transform"})
	must(err)
	fmt.Println(lengths.Await(ctx, p, id))
	must(p.Stop(ctx))
	// Output: [7 4 9] <nil>
}

// shop returns a program on a new database.
func shop(ctx context.Context) (*pawl.Pawl, func()) {
	dir, err := os.MkdirTemp("", "flow")
	must(err)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	must(err)
	p, err := pawl.New(db, pawl.Options{})
	must(err)
	must(p.Migrate(ctx))
	_, err = sqlite.SQL(db).ExecContext(ctx, "CREATE TABLE shipment (order_id TEXT)")
	must(err)
	return p, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
