package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/join"
)

// revenue adds up what a run has loaded.
const revenue = `
INSERT INTO revenue (run, customer, cents)
SELECT ?1, n.value, sum(a.value * c.value)
  FROM cells o
  JOIN cells p ON p.run = o.run AND p.file = o.file AND p.line = o.line AND p.field = 'product'
  JOIN cells a ON a.run = o.run AND a.file = o.file AND a.line = o.line AND a.field = 'amount'
  JOIN cells i ON i.run = o.run AND i.file = 'products.csv' AND i.field = 'id' AND i.value = p.value
  JOIN cells c ON c.run = o.run AND c.file = i.file AND c.line = i.line AND c.field = 'cents'
  JOIN cells k ON k.run = o.run AND k.file = 'customers.csv' AND k.field = 'id' AND k.value = o.value
  JOIN cells n ON n.run = o.run AND n.file = k.file AND n.line = k.line AND n.field = 'name'
 WHERE o.run = ?1 AND o.file = 'orders.csv' AND o.field = 'customer'
 GROUP BY n.value ON CONFLICT DO NOTHING`

// report runs when every extract is done.
func (e *etl) report(ctx context.Context, d *pawl.Delivery[Run]) error {
	if _, err := e.db.ExecContext(ctx, revenue, d.Body.ID); err != nil {
		return err
	}
	lines, files := 0, 0
	for step, err := range pawl.Results[int](ctx, e.pawl, d.Message) {
		if err != nil {
			return err
		}
		lines += step.Value
		files++
	}
	fmt.Printf("%d lines of %d files\n", lines, files)
	rows, err := e.db.QueryContext(ctx, "SELECT customer, cents FROM revenue WHERE run = ? ORDER BY cents DESC", d.Body.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var customer string
		var cents int64
		if err := rows.Scan(&customer, &cents); err != nil {
			return err
		}
		fmt.Printf("%-8s %8.2f\n", customer, float64(cents)/100)
	}
	return rows.Err()
}

// alert runs in place of report when an extract has failed for good.
func (e *etl) alert(ctx context.Context, d *pawl.Delivery[Run]) error {
	for step, err := range pawl.Results[int](ctx, e.pawl, d.Message) {
		if err != nil {
			return err
		}
		if step.Status != join.Failed {
			continue
		}
		m, err := e.pawl.Outbox.Get(ctx, step.MessageID)
		if err != nil {
			return err
		}
		fmt.Printf("no report: %s\n", m.LastError)
	}
	return nil
}
