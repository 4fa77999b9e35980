package shop

import (
	"context"

	"github.com/bravellian/pawl/examples/demo/scene"
)

// Verdict is what the database says afterwards. Nothing in it comes from the
// counters of those who did the work.
type Verdict struct {
	Committed     int64   `json:"orders_committed"`
	RolledBack    int64   `json:"orders_rolled_back"`
	Messages      int64   `json:"messages"`
	Delivered     int64   `json:"delivered"`
	Failed        int64   `json:"failed_for_good"`
	Retried       int64   `json:"retried"`
	Duplicates    int64   `json:"duplicates_recognized"`
	Lost          int64   `json:"lost"`
	Phantom       int64   `json:"phantom"`
	Seconds       float64 `json:"seconds"`
	PerSecond     float64 `json:"messages_per_second"`
	BusiestSecond int64   `json:"messages_in_busiest_second"`
}

// Good reports whether something was done, nothing lost and nothing made up.
func (v *Verdict) Good() bool { return v.Committed > 0 && v.Lost == 0 && v.Phantom == 0 }

const (
	ordersCommitted = `SELECT count(*) FROM pawl.orders`

	ordersRolledBack = `
SELECT count(*) FROM pawl.payments_declined p WHERE NOT EXISTS (SELECT 1 FROM pawl.orders o WHERE o.id = p.order_id)`

	messagesKept = `SELECT count(*) FROM pawl.outbox`

	messagesFailed = `SELECT count(*) FROM pawl.outbox WHERE status = 3`

	delivered = `SELECT (SELECT count(*) FROM pawl.mails) + (SELECT count(*) FROM pawl.invoices)`

	retried = `SELECT count(*) FROM pawl.deliveries WHERE outcome = 'refused'`

	duplicates = `SELECT count(*) FROM pawl.deliveries WHERE outcome = 'duplicate'`

	// Every message that an order should have, without an effect and without a
	// failure that someone can see. It begins with the orders: a message that
	// pawl forgot altogether counts.
	lost = `
SELECT count(*)
  FROM pawl.orders o
 CROSS JOIN (SELECT 'order.mail' AS topic UNION ALL SELECT 'order.invoice') t
  LEFT JOIN (SELECT order_id, 'order.mail' AS topic FROM pawl.mails UNION SELECT order_id, 'order.invoice' FROM pawl.invoices) e
    ON e.order_id = o.id AND e.topic = t.topic
  LEFT JOIN (SELECT DISTINCT correlation_id, topic FROM pawl.outbox WHERE status = 3) f
    ON f.correlation_id = o.id AND f.topic = t.topic
 WHERE e.order_id IS NULL AND f.correlation_id IS NULL`

	// Everything that speaks of an order that does not exist.
	phantom = `
SELECT count(*)
  FROM (SELECT message_id, order_id FROM pawl.deliveries
         UNION SELECT message_id, order_id FROM pawl.mails
         UNION SELECT message_id, order_id FROM pawl.invoices
         UNION SELECT CAST(message_id AS text), correlation_id FROM pawl.outbox) x
 WHERE NOT EXISTS (SELECT 1 FROM pawl.orders o WHERE o.id = x.order_id)`

	microseconds = `SELECT coalesce(max(at) - min(at), 0) FROM pawl.deliveries`

	busiestSecond = `
SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM pawl.deliveries WHERE outcome = 'sent' GROUP BY at / 1000000) s`
)

// Judge asks the database what happened.
func Judge(ctx context.Context, d *scene.Database) (*Verdict, error) {
	var v Verdict
	var micros int64
	err := d.Ask(ctx, []scene.Question{
		{Into: &v.Committed, Text: ordersCommitted}, {Into: &v.RolledBack, Text: ordersRolledBack},
		{Into: &v.Messages, Text: messagesKept}, {Into: &v.Failed, Text: messagesFailed}, {Into: &v.Delivered, Text: delivered},
		{Into: &v.Retried, Text: retried}, {Into: &v.Duplicates, Text: duplicates},
		{Into: &v.Lost, Text: lost}, {Into: &v.Phantom, Text: phantom},
		{Into: &micros, Text: microseconds}, {Into: &v.BusiestSecond, Text: busiestSecond},
	})
	if err != nil {
		return nil, err
	}
	v.Seconds = float64(micros) / 1e6
	if micros > 0 {
		v.PerSecond = float64(v.Delivered) / v.Seconds
	}
	return &v, nil
}
