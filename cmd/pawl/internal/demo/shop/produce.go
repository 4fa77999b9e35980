package shop

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bravellian/pawl/cmd/pawl/internal/demo/scene"
	"github.com/bravellian/pawl/outbox"
)

// Topics of the two messages that every order has.
const (
	TopicMail    = "order.mail"
	TopicInvoice = "order.invoice"
)

// mailBody is what the handler of TopicMail gets.
type mailBody struct {
	OrderID string `json:"order_id"`
	Address string `json:"address"`
	Subject string `json:"subject"`
}

// invoiceBody is what the handler of TopicInvoice gets.
type invoiceBody struct {
	OrderID     string `json:"order_id"`
	AmountCents int64  `json:"amount_cents"`
	Currency    string `json:"currency"`
}

// Scene is the shop, taking orders. It counts them while it does; the verdict
// does not believe these figures, it asks the database.
type Scene struct {
	DB     *scene.Database
	Outbox *outbox.Outbox
	Orders []Order

	taken, declined atomic.Int64
}

// Title says what the scene is about to do.
func (s *Scene) Title() string { return fmt.Sprintf("taking %d orders", len(s.Orders)) }

// Messages is how many there will be if no payment is declined.
func (s *Scene) Messages() int64 { return int64(2 * len(s.Orders)) }

// Progress says how far the deliveries are.
func (s *Scene) Progress(n outbox.Counts) string {
	return fmt.Sprintf("%d orders: %d delivered, %d in hand, %d waiting, %d retrying, %d failed",
		s.taken.Load(), n.Done, n.InProgress, n.Ready, n.Scheduled, n.Failed)
}

// Produced says what Produce did.
func (s *Scene) Produced() string {
	return fmt.Sprintf("orders taken: %d committed, %d rolled back, their payment was declined", s.taken.Load(), s.declined.Load())
}

// errDeclined rolls an order back after all of it was written.
var errDeclined = errors.New("payment declined")

// Produce writes every order with its messages, each in one transaction. The
// payment comes last: where it is declined, order and messages never were.
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
	msgs, err := messages(order)
	if err != nil {
		return err
	}
	if _, err := o.EnqueueBatchTx(ctx, tx, msgs); err != nil {
		return err
	}
	if order.Payment.Status == Declined {
		return errDeclined
	}
	return nil
}

func messages(order *Order) ([]outbox.Message, error) {
	mail, err := json.Marshal(mailBody{order.ID, order.Customer.Email, "Your order " + order.ID})
	if err != nil {
		return nil, err
	}
	invoice, err := json.Marshal(invoiceBody{order.ID, order.TotalCents, order.Currency})
	if err != nil {
		return nil, err
	}
	return []outbox.Message{
		{Topic: TopicMail, Payload: mail, CorrelationID: order.ID},
		{Topic: TopicInvoice, Payload: invoice, CorrelationID: order.ID},
	}, nil
}

func noteDeclined(ctx context.Context, d *scene.Database, orderID string) error {
	return d.Transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, d.Text(`INSERT INTO pawl.payments_declined (order_id) VALUES (?1)`), orderID)
		return err
	})
}
