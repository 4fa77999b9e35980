package demo

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/bravellian/pawl/cmd/pawl/internal/demo/shop"
	"github.com/bravellian/pawl/internal/testpg"
	"github.com/bravellian/pawl/outbox"
)

// played is a stage on which a few orders were taken and delivered.
func played(t *testing.T, db string) *stage {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	p, err := newPlace(db)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStage(p.DB, p.Schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.remove(s); err != nil {
			t.Error(err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	ctx := t.Context()
	if err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.shop.Create(ctx); err != nil {
		t.Fatal(err)
	}
	orders, err := shop.Read(shop.Bundled())
	if err != nil {
		t.Fatal(err)
	}
	o := outbox.New(s, outbox.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)})
	if err := shop.TakeOrders(ctx, s.shop, o, orders[:60], &shop.Counter{}); err != nil {
		t.Fatal(err)
	}
	o.Handle(shop.TopicMail, shop.Mail(s.shop))
	o.Handle(shop.TopicInvoice, shop.Invoice(s.shop))
	if err := o.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) judge(t *testing.T) *shop.Verdict {
	t.Helper()
	v, err := shop.Judge(t.Context(), s.shop)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The verdict is worth something only if it sees what is wrong.
func TestVerdictSeesTampering(t *testing.T) {
	for _, db := range []string{"", testpg.URL(t)} {
		t.Run(strings.SplitN(db, ":", 2)[0], func(t *testing.T) {
			s := played(t, db)
			before := s.judge(t)
			// What is still to be retried is not delivered, and so counts as lost
			// until it is.
			if before.Phantom != 0 || before.Lost != before.Messages-before.Delivered-before.Failed || before.Messages != 2*before.Committed {
				t.Fatalf("untouched: %+v", before)
			}
			for _, c := range []struct {
				name, statement string
				lost, phantom   int64
			}{
				{"a mail that was never sent", `DELETE FROM pawl.mails WHERE message_id = (SELECT min(message_id) FROM pawl.mails)`, 1, 0},
				{"an invoice of nobody", `INSERT INTO pawl.invoices VALUES ('m', 'ORD-none', 1, 'EUR')`, 0, 1},
				{"the delivery of a rolled back order", `INSERT INTO pawl.deliveries VALUES ('n', 'ORD-rolled-back', 'order.mail', 1, 'sent', 1, 1)`, 0, 1},
				{"an invoice that was never written", `DELETE FROM pawl.invoices WHERE message_id <> 'm' AND order_id = (SELECT min(order_id) FROM pawl.invoices WHERE message_id <> 'm')`, 1, 0},
			} {
				was := s.judge(t)
				if _, err := s.shop.SQL.ExecContext(t.Context(), s.shop.Names.Render(c.statement)); err != nil {
					t.Fatal(err)
				}
				now := s.judge(t)
				if now.Lost-was.Lost != c.lost || now.Phantom-was.Phantom != c.phantom || now.Good() {
					t.Errorf("%s: lost %d more, phantom %d more; want %d, %d", c.name, now.Lost-was.Lost, now.Phantom-was.Phantom, c.lost, c.phantom)
				}
			}
		})
	}
}
