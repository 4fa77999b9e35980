package shop

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
)

// How a delivery can end, as the deliveries table has it.
const (
	sent      = "sent"      // it took effect
	duplicate = "duplicate" // it had taken effect before
	refused   = "refused"   // the other side is busy: again later
	rejected  = "rejected"  // the other side will never take it
)

// Mail is the handler of TopicMail.
func Mail(d *Database) outbox.Handler {
	return outbox.JSONMessage(func(ctx context.Context, m *outbox.Message, b mailBody) error {
		return d.deliver(ctx, m, b.OrderID, errors.New("mailbox does not exist"),
			`INSERT INTO pawl.mails (message_id, order_id, address, subject) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (message_id) DO NOTHING`,
			m.ID.String(), b.OrderID, b.Address, b.Subject)
	})
}

// Invoice is the handler of TopicInvoice.
func Invoice(d *Database) outbox.Handler {
	return outbox.JSONMessage(func(ctx context.Context, m *outbox.Message, b invoiceBody) error {
		return d.deliver(ctx, m, b.OrderID, errors.New("the ledger for this month is closed"),
			`INSERT INTO pawl.invoices (message_id, order_id, amount_cents, currency) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (message_id) DO NOTHING`,
			m.ID.String(), b.OrderID, b.AmountCents, b.Currency)
	})
}

// deliver writes an effect and the note of it in one transaction. The pauses
// are the network's: before the effect, and between it and the ack, which is
// where a killed worker leaves effects that nobody acked.
func (d *Database) deliver(ctx context.Context, m *outbox.Message, orderID string, no error, effect string, args ...any) error {
	if err := network(ctx); err != nil {
		return err
	}
	outcome := fate(m.Topic, orderID, m.RetryCount)
	err := d.transact(ctx, func(tx *sql.Tx) error {
		if outcome == sent {
			res, err := tx.ExecContext(ctx, d.text(effect), args...)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				outcome = duplicate
			}
		}
		_, err := tx.ExecContext(ctx, d.text(`INSERT INTO pawl.deliveries (message_id, order_id, topic, attempt, outcome, worker, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`),
			m.ID.String(), orderID, m.Topic, m.RetryCount+1, outcome, os.Getpid(), time.Now().UnixMicro())
		return err
	})
	if err != nil {
		return err
	}
	switch outcome {
	case refused:
		return errors.New("the other side is busy")
	case rejected:
		return outbox.Permanent(no)
	}
	return network(ctx)
}

// network is 2 to 8 ms of waiting for another machine.
func network(ctx context.Context) error {
	return engine.Pause(ctx, 2*time.Millisecond+rand.N(6*time.Millisecond))
}

// fate decides what the other side says: the same for an order each time. One
// in 20 is refused at first, one in 300 rejected for good.
func fate(topic, orderID string, failures int) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(topic + orderID)) // a hash cannot fail
	switch n := h.Sum32() % 300; {
	case n == 0:
		return rejected
	case n <= 15 && failures == 0:
		return refused
	}
	return sent
}
