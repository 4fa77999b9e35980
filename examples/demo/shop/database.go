package shop

import (
	"context"

	"github.com/bravellian/pawl/examples/demo/scene"
)

// tables are the shop's. Times are microseconds since 1970.
const tables = `
CREATE TABLE pawl.orders (id text PRIMARY KEY, customer text NOT NULL, email text NOT NULL, country text NOT NULL,
  total_cents bigint NOT NULL, currency text NOT NULL, placed_at text NOT NULL);
CREATE TABLE pawl.order_lines (order_id text NOT NULL, line bigint NOT NULL, sku text NOT NULL, quantity bigint NOT NULL, unit_cents bigint NOT NULL,
  PRIMARY KEY (order_id, line));
-- What the payment provider wrote down, in a transaction of its own.
CREATE TABLE pawl.payments_declined (order_id text PRIMARY KEY);
-- The effects. A message takes effect once: its id is the key.
CREATE TABLE pawl.mails (message_id text PRIMARY KEY, order_id text NOT NULL, address text NOT NULL, subject text NOT NULL);
CREATE TABLE pawl.invoices (message_id text PRIMARY KEY, order_id text NOT NULL, amount_cents bigint NOT NULL, currency text NOT NULL);
-- One row for every time that a handler was called and came to an end.
CREATE TABLE pawl.deliveries (message_id text NOT NULL, order_id text NOT NULL, topic text NOT NULL, attempt bigint NOT NULL,
  outcome text NOT NULL, worker bigint NOT NULL, at bigint NOT NULL);
`

// Create makes the shop's tables.
func Create(ctx context.Context, d *scene.Database) error { return d.Create(ctx, tables) }
