package checkout

import (
	"context"

	"github.com/bravellian/pawl/examples/demo/scene"
)

// Verdict is what the database says afterwards: pawl's flows are held against what their steps wrote into
// the scene's own tables.
type Verdict struct {
	Checkouts int64 `json:"checkouts"`
	Booked    int64 `json:"booked"`
	Refunded  int64 `json:"refunded"`
	Ended     int64 `json:"ended"`
	Receipts  int64 `json:"receipts"`
	Again     int64 `json:"calls_recognized"`
	Lost      int64 `json:"lost"`
	Doubled   int64 `json:"doubled"`
	Phantom   int64 `json:"phantom"`
}

// Good reports whether something was done, and every checkout ended once, as it was answered.
func (v *Verdict) Good() bool {
	return v.Checkouts > 0 && v.Booked+v.Refunded == v.Checkouts && v.Ended == v.Booked && v.Receipts == v.Booked &&
		v.Lost == 0 && v.Doubled == 0 && v.Phantom == 0
}

const (
	begun    = `SELECT count(*) FROM pawl.checkouts`
	booked   = `SELECT count(*) FROM pawl.checkout_bookings`
	refunded = `SELECT count(*) FROM pawl.checkout_refunds`
	ended    = `SELECT count(*) FROM pawl.checkout_ends`
	sent     = `SELECT count(*) FROM pawl.checkout_receipts`
	again    = `
SELECT CAST(coalesce(sum(calls - 1), 0) AS bigint)
  FROM (SELECT calls FROM pawl.checkout_charges UNION ALL SELECT calls FROM pawl.checkout_refunds) c`

	// Checkouts without the end that they should have. It begins with the checkouts: a flow that pawl forgot
	// altogether counts.
	lost = `
WITH f AS MATERIALIZED (SELECT CAST(message_id AS text) AS id, status FROM pawl.outbox WHERE topic = 'flow.checkout')
SELECT count(*)
  FROM pawl.checkouts c
  LEFT JOIN f ON f.id = c.flow_id
 WHERE NOT EXISTS (SELECT 1 FROM pawl.checkout_charges x WHERE x.checkout_id = c.id)
    OR c.declined = 0 AND NOT (coalesce(f.status, 0) = 2
       AND EXISTS (SELECT 1 FROM pawl.checkout_bookings x WHERE x.checkout_id = c.id)
       AND EXISTS (SELECT 1 FROM pawl.checkout_ends x WHERE x.checkout_id = c.id)
       AND EXISTS (SELECT 1 FROM pawl.checkout_receipts x WHERE x.checkout_id = c.id))
    OR c.declined = 1 AND NOT (coalesce(f.status, 0) = 3 AND EXISTS (SELECT 1 FROM pawl.checkout_refunds x WHERE x.checkout_id = c.id))`

	// Bookings, ends and receipts beyond the one of each checkout.
	doubled = `
SELECT CAST(coalesce(sum(n - 1), 0) AS bigint)
  FROM (SELECT what, checkout_id, count(*) AS n
          FROM (SELECT 'booking' AS what, checkout_id FROM pawl.checkout_bookings
                 UNION ALL SELECT 'end', checkout_id FROM pawl.checkout_ends
                 UNION ALL SELECT 'charge', checkout_id FROM pawl.checkout_charges
                 UNION ALL SELECT 'refund', checkout_id FROM pawl.checkout_refunds
                 UNION ALL SELECT 'receipt', correlation_id FROM pawl.outbox WHERE topic = 'checkout.receipt') x
         GROUP BY what, checkout_id) s`

	// What speaks of a checkout that does not exist, bookings and ends of declined ones, and refunds of others.
	phantom = `
SELECT count(*)
  FROM (SELECT 0 AS declined, checkout_id FROM pawl.checkout_bookings
         UNION ALL SELECT 0, checkout_id FROM pawl.checkout_ends
         UNION ALL SELECT 0, checkout_id FROM pawl.checkout_receipts
         UNION ALL SELECT 1, checkout_id FROM pawl.checkout_refunds) x
  LEFT JOIN pawl.checkouts c ON c.id = x.checkout_id
 WHERE c.id IS NULL OR c.declined <> x.declined`
)

// Judge asks the database what happened.
func Judge(ctx context.Context, d *scene.Database) (*Verdict, error) {
	var v Verdict
	err := d.Ask(ctx, []scene.Question{
		{Into: &v.Checkouts, Text: begun}, {Into: &v.Booked, Text: booked}, {Into: &v.Refunded, Text: refunded}, {Into: &v.Ended, Text: ended},
		{Into: &v.Receipts, Text: sent}, {Into: &v.Again, Text: again},
		{Into: &v.Lost, Text: lost}, {Into: &v.Doubled, Text: doubled}, {Into: &v.Phantom, Text: phantom},
	})
	if err != nil {
		return nil, err
	}
	return &v, nil
}
