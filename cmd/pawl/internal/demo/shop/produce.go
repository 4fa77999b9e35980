package shop

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"sync/atomic"

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

// Counter takes orders and counts them while it does. The verdict does not
// believe its figures: it asks the database.
type Counter struct {
	Taken, Declined atomic.Int64
}

// errDeclined rolls an order back after all of it was written.
var errDeclined = errors.New("payment declined")

// TakeOrders writes every order with its messages, each in one transaction. The
// payment comes last: where it is declined, order and messages never were.
func TakeOrders(ctx context.Context, d *Database, o *outbox.Outbox, orders []Order, c *Counter) error {
	for i := range orders {
		order := &orders[i]
		err := d.transact(ctx, func(tx *sql.Tx) error { return takeOrder(ctx, d, tx, o, order) })
		switch {
		case errors.Is(err, errDeclined):
			c.Declined.Add(1)
			err = d.noteDeclined(ctx, order.ID)
		case err == nil:
			c.Taken.Add(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func takeOrder(ctx context.Context, d *Database, tx *sql.Tx, o *outbox.Outbox, order *Order) error {
	_, err := tx.ExecContext(ctx, d.text(`INSERT INTO pawl.orders (id, customer, email, country, total_cents, currency, placed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`),
		order.ID, order.Customer.Name, order.Customer.Email, order.ShipTo.Country, order.TotalCents, order.Currency, order.PlacedAt.Format("2006-01-02T15:04:05Z07:00"))
	if err != nil {
		return err
	}
	for n, l := range order.Lines {
		_, err := tx.ExecContext(ctx, d.text(`INSERT INTO pawl.order_lines (order_id, line, sku, quantity, unit_cents) VALUES (?1, ?2, ?3, ?4, ?5)`),
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

func (d *Database) noteDeclined(ctx context.Context, orderID string) error {
	return d.transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, d.text(`INSERT INTO pawl.payments_declined (order_id) VALUES (?1)`), orderID)
		return err
	})
}
