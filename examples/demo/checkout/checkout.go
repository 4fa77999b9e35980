// Package checkout is a shop whose large orders somebody approves: a durable flow for each. It charges the card,
// waits for the approval without a worker, and books the order, or refunds the charge where it is declined. Another
// process approves: before the flow asks, or later.
package checkout

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/scene"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/outbox"
)

// cart is what the flow gets.
type cart struct {
	ID string `json:"id"`
}

// approval is the signal that it waits for.
type approval struct {
	OK bool `json:"ok"`
}

var (
	approved = flow.NewSignal[approval]("approval")
	receipts = pawl.NewTopic[cart]("checkout.receipt")
)

// carts are the first n checkouts: the same ones each time.
func carts(n int) []cart {
	all := make([]cart, n)
	for i := range all {
		all[i] = cart{fmt.Sprintf("CHK-2026-%05d", i+1)}
	}
	return all
}

// declined says whether somebody declines a checkout: one of 15.
func (c cart) declined() bool { return scene.Dice(15, c.ID) == 0 }

// busy says whether the card's bank is busy at first: one of 12.
func (c cart) busy() bool { return scene.Dice(12, "bank"+c.ID) == 0 }

// tables are the scene's. Bookings and ends have no key: if a step came twice, there would be two.
const tables = `
CREATE TABLE pawl.checkouts (id text PRIMARY KEY, flow_id text NOT NULL, declined bigint NOT NULL);
-- What the bank and the shop's mail do. They recognize a call by its key, and count it.
CREATE TABLE pawl.checkout_charges (key text PRIMARY KEY, checkout_id text NOT NULL, calls bigint NOT NULL);
CREATE TABLE pawl.checkout_refunds (key text PRIMARY KEY, checkout_id text NOT NULL, calls bigint NOT NULL);
CREATE TABLE pawl.checkout_bookings (checkout_id text NOT NULL);
CREATE TABLE pawl.checkout_ends (checkout_id text NOT NULL);
CREATE TABLE pawl.checkout_receipts (message_id text PRIMARY KEY, checkout_id text NOT NULL);
`

// Create makes the scene's tables.
func Create(ctx context.Context, d *scene.Database) error { return d.Create(ctx, tables) }

// shop is what the flow works with.
type shop struct {
	db   *scene.Database
	pawl *pawl.Pawl
}

// flowOf returns the flow. A process that only starts it needs no database.
func flowOf(s *shop, retry *outbox.RetryPolicy) *flow.Flow[cart, string] {
	return flow.New("checkout", s.checkout, flow.Settings{Retry: retry})
}

// Handle registers the flow, and what follows it.
func Handle(p *pawl.Pawl, d *scene.Database, retry *outbox.RetryPolicy) {
	s := &shop{d, p}
	flowOf(s, retry).Handle(p)
	receipts.Handle(p, func(ctx context.Context, m *pawl.Delivery[cart]) error {
		_, err := d.SQL.ExecContext(ctx, d.Text(`INSERT INTO pawl.checkout_receipts (message_id, checkout_id) VALUES (?1, ?2) ON CONFLICT (message_id) DO NOTHING`),
			m.ID.String(), m.Body.ID)
		return err
	})
}

// checkout is the function of the flow.
func (s *shop) checkout(f *flow.Run, c cart) (string, error) {
	charge, err := flow.Step(f, "charge", func(ctx context.Context) (string, error) {
		if c.busy() && f.Message().RetryCount == 0 {
			return "", errors.New("the bank is busy")
		}
		return f.Key("charge"), s.call(ctx, "checkout_charges", f.Key("charge"), c)
	})
	if err != nil {
		return "", err
	}
	f.Undo("charge", func(ctx context.Context) error { return s.call(ctx, "checkout_refunds", f.Key("refund"), c) })

	a, err := flow.Wait[approval](f, "approval")
	if err != nil {
		return "", err
	}
	if !a.OK {
		return "", flow.Final(errors.New("declined"))
	}
	err = flow.StepTx(f, "book", func(ctx context.Context, tx pawl.Tx) error {
		_, err := tx.ExecContext(ctx, s.db.Text(`INSERT INTO pawl.checkout_bookings (checkout_id) VALUES (?1)`), c.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	f.OnDone(func(ctx context.Context, tx pawl.Tx) error {
		if _, err := tx.ExecContext(ctx, s.db.Text(`INSERT INTO pawl.checkout_ends (checkout_id) VALUES (?1)`), c.ID); err != nil {
			return err
		}
		_, err := receipts.EnqueueTx(ctx, s.pawl, tx, c, pawl.EnqueueOptions{CorrelationID: c.ID})
		return err
	})
	return charge, nil
}

// call calls the bank, which has a call take effect once for a key.
func (s *shop) call(ctx context.Context, table, key string, c cart) error {
	if err := scene.Network(ctx); err != nil {
		return err
	}
	_, err := s.db.SQL.ExecContext(ctx, s.db.Text(`INSERT INTO pawl.`+table+` AS t (key, checkout_id, calls) VALUES (?1, ?2, 1) ON CONFLICT (key) DO UPDATE SET calls = t.calls + 1`), key, c.ID)
	return errors.Join(err, scene.Network(ctx))
}
