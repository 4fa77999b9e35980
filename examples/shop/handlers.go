package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/sink/webhook"
)

// Order is what messages are about.
type Order struct {
	Number int64  `json:"number"`
	What   string `json:"what"`
	Email  string `json:"email"`
}

// What happens in the shop.
var (
	Placed  = pawl.NewTopic[Order]("order.placed")
	Expired = pawl.NewTopic[Order]("order.expired")
	Pack    = pawl.NewTopic[Order]("order.pack")
	Label   = pawl.NewTopic[Order]("order.label")
	Invoice = pawl.NewTopic[Order]("order.invoice")
	Ready   = pawl.NewTopic[Order]("order.ready")
	Shipped = pawl.NewTopic[Order]("partner.order-shipped")
	Report  = pawl.NewTopic[struct{}]("report")
)

// prepare makes the tables, stores the job, and registers the handlers.
func (s *shop) prepare(ctx context.Context) error {
	if err := s.pawl.Migrate(ctx); err != nil {
		return err
	}
	number := "bigserial"
	if strings.Contains(fmt.Sprintf("%T", s.db.Driver()), "sqlite") {
		number = "integer"
	}
	if _, err := s.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS orders (number "+number+" PRIMARY KEY, what text NOT NULL, email text NOT NULL, state text NOT NULL)"); err != nil {
		return err
	}
	if err := s.pawl.Jobs.Put(ctx, Report.Every("0 6 * * MON-FRI", "Europe/Berlin", struct{}{})); err != nil {
		return err
	}
	Placed.Handle(s.pawl, s.says("please pay for"))
	for _, step := range []*pawl.Topic[Order]{Pack, Label, Invoice} {
		step.Handle(s.pawl, s.says(step.Name()))
	}
	Expired.Handle(s.pawl, s.becomes("cancelled", "placed"))
	Ready.Handle(s.pawl, s.ship)
	Report.Handle(s.pawl, s.report)
	if s.partner == "" {
		Shipped.Handle(s.pawl, s.says("no partner for"))
		return nil
	}
	sink, err := webhook.New(s.pawl, webhook.Options{Endpoint: &webhook.Endpoint{URL: s.partner, Secrets: strings.Fields(os.Getenv("SHOP_SECRET"))}, AllowPrivate: s.private})
	if err == nil {
		sink.Handle(Shipped.Name())
	}
	return err
}

// says stands for work outside the database, such as a mail: it happens at least once.
func (s *shop) says(what string) func(context.Context, *pawl.Delivery[Order]) error {
	return func(_ context.Context, d *pawl.Delivery[Order]) error {
		fmt.Printf("%s: order %d, %s\n", what, d.Body.Number, d.Body.What)
		return nil
	}
}

// becomes changes the state of an order from another, once however often the message comes.
func (s *shop) becomes(state, from string) func(context.Context, *pawl.Delivery[Order]) error {
	return func(ctx context.Context, d *pawl.Delivery[Order]) error {
		_, err := s.db.ExecContext(ctx, "UPDATE orders SET state = $1 WHERE number = $2 AND state = $3", state, d.Body.Number, from)
		return err
	}
}

// ship follows when the three steps are done. The order is shipped and the partner is told in one
// transaction, once however often the message comes.
func (s *shop) ship(ctx context.Context, d *pawl.Delivery[Order]) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	done, err := tx.ExecContext(ctx, "UPDATE orders SET state = 'shipped' WHERE number = $1 AND state = 'paid'", d.Body.Number)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return err // it was shipped before
	}
	if _, err := Shipped.EnqueueTx(ctx, s.pawl, tx, d.Body); err != nil {
		return err
	}
	return tx.Commit()
}

// report runs every morning of a working day.
func (s *shop) report(ctx context.Context, _ *pawl.Delivery[struct{}]) error {
	var n int
	err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM orders WHERE state = 'shipped'").Scan(&n)
	if err == nil {
		fmt.Printf("report: %d orders are shipped\n", n)
	}
	return err
}

// countStock runs in one process at a time, the leader, for as long as that holds the lease.
func (s *shop) countStock(ctx context.Context, l *lease.Lease) error {
	for tick := time.NewTicker(time.Minute); ; {
		fmt.Printf("leader %d counts the stock\n", l.Token())
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return nil
		}
	}
}
