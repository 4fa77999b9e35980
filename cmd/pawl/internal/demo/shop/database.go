package shop

import (
	"context"
	"database/sql"
	"strings"

	"github.com/bravellian/pawl/engine"
)

// Database is where the shop keeps its tables, beside pawl's. In its SQL
// "pawl." stands for the schema of both, as it does in pawl's own.
type Database struct {
	SQL   *sql.DB
	Names engine.Names
	// Dollars says that parameters are $1 and not ?1.
	Dollars bool
}

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
func (d *Database) Create(ctx context.Context) error {
	return d.transact(ctx, func(tx *sql.Tx) error {
		for statement := range strings.SplitSeq(d.Names.Render(tables), ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// text puts names and parameters into the form that the database wants.
func (d *Database) text(query string) string {
	query = d.Names.Render(query)
	if d.Dollars {
		query = strings.ReplaceAll(query, "?", "$")
	}
	return query
}

func (d *Database) transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // the error that matters came before
		return err
	}
	return tx.Commit()
}
