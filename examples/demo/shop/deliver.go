package shop

import (
	"context"
	"errors"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/scene"
)

const noteDelivery = `INSERT INTO pawl.deliveries (message_id, order_id, topic, attempt, outcome, worker, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`

// Handle registers the handlers of the shop's messages.
func Handle(p *pawl.Pawl, d *scene.Database) {
	mails.Handle(p, func(ctx context.Context, m *pawl.Delivery[mailBody]) error {
		b := m.Body
		return d.Deliver(ctx, m.Message, scene.Delivery{
			Subject: b.OrderID, Fate: fate(m.Topic, b.OrderID, m.RetryCount), No: errors.New("mailbox does not exist"), Note: noteDelivery,
			Effect: `INSERT INTO pawl.mails (message_id, order_id, address, subject) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (message_id) DO NOTHING`,
			Args:   []any{m.ID.String(), b.OrderID, b.Address, b.Subject},
		})
	})
	invoices.Handle(p, func(ctx context.Context, m *pawl.Delivery[invoiceBody]) error {
		b := m.Body
		return d.Deliver(ctx, m.Message, scene.Delivery{
			Subject: b.OrderID, Fate: fate(m.Topic, b.OrderID, m.RetryCount), No: errors.New("the ledger for this month is closed"), Note: noteDelivery,
			Effect: `INSERT INTO pawl.invoices (message_id, order_id, amount_cents, currency) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (message_id) DO NOTHING`,
			Args:   []any{m.ID.String(), b.OrderID, b.AmountCents, b.Currency},
		})
	})
}

// fate decides what the other side says: the same for an order each time. One
// in 20 is refused at first, one in 300 rejected for good.
func fate(topic, orderID string, failures int) string {
	switch n := scene.Dice(300, topic+orderID); {
	case n == 0:
		return scene.Rejected
	case n <= 15 && failures == 0:
		return scene.Refused
	}
	return scene.Sent
}
