package shop

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/scene"
	"github.com/bravellian/pawl/outbox"
)

// Every order has a message of each topic.
var (
	mails    = pawl.NewTopic[mailBody]("order.mail")
	invoices = pawl.NewTopic[invoiceBody]("order.invoice")
)

// mailBody is the payload of a mail.
type mailBody struct {
	OrderID string `json:"order_id"`
	Address string `json:"address"`
	Subject string `json:"subject"`
}

// invoiceBody is the payload of an invoice.
type invoiceBody struct {
	OrderID     string `json:"order_id"`
	AmountCents int64  `json:"amount_cents"`
	Currency    string `json:"currency"`
}

// Scene takes orders. Its counters are for Progress alone: Judge asks the database.
type Scene struct {
	DB     *scene.Database
	Outbox *outbox.Outbox
	Orders []Order

	taken, declined atomic.Int64
}

// Title describes the scene.
func (s *Scene) Title() string { return fmt.Sprintf("taking %d orders", len(s.Orders)) }

// Messages is how many there will be if no payment is declined.
func (s *Scene) Messages() int64 { return int64(2 * len(s.Orders)) }

// Progress describes how far the deliveries are.
func (s *Scene) Progress(n outbox.Counts) string {
	return fmt.Sprintf("%d orders: %d delivered, %d in hand, %d waiting, %d retrying, %d failed",
		s.taken.Load(), n.Done, n.InProgress, n.Ready, n.Scheduled+n.Retrying, n.Failed)
}

// Produced describes what Produce did.
func (s *Scene) Produced() string {
	return fmt.Sprintf("orders taken: %d committed, %d rolled back, their payment was declined", s.taken.Load(), s.declined.Load())
}

// errDeclined rolls an order back after all of it was written.
var errDeclined = errors.New("payment declined")

// Produce writes every order with its messages, each in one transaction. The payment
// comes last: where it is declined the transaction is rolled back, and neither the order
// nor its messages exist.
func (s *Scene) Produce(ctx context.Context) error {
	for i := range s.Orders {
		order := &s.Orders[i]
		err := s.DB.Transact(ctx, func(tx *sql.Tx) error { return takeOrder(ctx, s.DB, tx, s.Outbox, order) })
		switch {
		case errors.Is(err, errDeclined):
			s.declined.Add(1)
			err = noteDeclined(ctx, s.DB, order.ID)
		case err == nil:
			s.taken.Add(1)
		}
		if err != nil {
			return fmt.Errorf("take order %s: %w", order.ID, err)
		}
	}
	return nil
}

func takeOrder(ctx context.Context, d *scene.Database, tx *sql.Tx, o *outbox.Outbox, order *Order) error {
	_, err := tx.ExecContext(ctx, d.Text(`INSERT INTO pawl.orders (id, customer, email, country, total_cents, currency, placed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`),
		order.ID, order.Customer.Name, order.Customer.Email, order.ShipTo.Country, order.TotalCents, order.Currency, order.PlacedAt.Format("2006-01-02T15:04:05Z07:00"))
	if err != nil {
		return err
	}
	for n, l := range order.Lines {
		_, err := tx.ExecContext(ctx, d.Text(`INSERT INTO pawl.order_lines (order_id, line, sku, quantity, unit_cents) VALUES (?1, ?2, ?3, ?4, ?5)`),
			order.ID, n+1, l.SKU, l.Quantity, l.UnitCents)
		if err != nil {
			return err
		}
	}
	options := pawl.EnqueueOptions{CorrelationID: order.ID}
	mail := mails.With(mailBody{order.ID, order.Customer.Email, "Your order " + order.ID}, options)
	invoice := invoices.With(invoiceBody{order.ID, order.TotalCents, order.Currency}, options)
	if _, err := o.EnqueueBatchTx(ctx, tx, []outbox.Message{mail, invoice}); err != nil {
		return err
	}
	if order.Payment.Status == Declined {
		return errDeclined
	}
	return nil
}

func noteDeclined(ctx context.Context, d *scene.Database, orderID string) error {
	return d.Transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, d.Text(`INSERT INTO pawl.payments_declined (order_id) VALUES (?1)`), orderID)
		return err
	})
}
