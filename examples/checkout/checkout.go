package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
)

// Order is what is bought.
type Order struct {
	Number string
	Cents  int
}

// Decision is what a person says to an order.
type Decision struct {
	By string
	OK bool
}

// Decided is the signal with a decision.
var Decided = flow.NewSignal[Decision]("decision")

// Checkout is the flow. Kill the program anywhere in it, and start it again.
var Checkout = flow.New("checkout", func(f *flow.Run, o Order) (string, error) {
	charge, err := flow.Step(f, "charge", func(ctx context.Context) (string, error) { return pay(ctx, o.Cents, f.Key("charge")) })
	if err != nil {
		return "", err
	}
	f.Undo("charge", func(ctx context.Context) error { return refund(ctx, charge, f.Key("refund")) })

	d, err := flow.Wait[Decision](f, "decision", flow.Within(72*time.Hour))
	if err != nil {
		return "", err
	}
	if !d.OK {
		return "", flow.Final(fmt.Errorf("%s said no", d.By)) // what was done is undone
	}
	err = flow.StepTx(f, "book", func(ctx context.Context, tx pawl.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO booking (number, charge, approved_by) VALUES (?, ?, ?)", o.Number, charge, d.By)
		return err
	})
	return fmt.Sprintf("order %s: %s, approved by %s", o.Number, charge, d.By), err
})

// pay stands for a payment service, which takes an idempotency key: the same charge for the same key.
func pay(_ context.Context, cents int, key string) (string, error) {
	if cents <= 0 || key == "" {
		return "", flow.Final(errors.New("nothing to pay"))
	}
	fmt.Println("charged", cents)
	return fmt.Sprintf("ch_%d", cents), nil
}

func refund(_ context.Context, charge, _ string) error {
	fmt.Println("refunded", charge)
	return nil
}
