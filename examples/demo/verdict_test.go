package demo

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/checkout"
	"github.com/bravellian/pawl/examples/demo/etl"
	"github.com/bravellian/pawl/examples/demo/shop"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

// onDatabases runs a test on a database of every engine, with a worker that handles all
// messages and retries at once.
func onDatabases(t *testing.T, test func(*testing.T, *database, *pawl.Pawl)) {
	for name, db := range map[string]string{"sqlite": "", "postgres": testpg.URL(t)} {
		t.Run(name, func(t *testing.T) {
			s := emptyDatabase(t, db)
			quiet := slog.New(slog.DiscardHandler)
			retry := outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 0 }}
			p, err := pawl.New(s.pawl, pawl.Options{
				StopWhenEmpty: true, Logger: quiet, Retry: &retry,
			})
			if err != nil {
				t.Fatal(err)
			}
			s.handle(p, &retry)
			test(t, s, p)
		})
	}
}

func emptyDatabase(t *testing.T, db string) *database {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	p, err := newLocation(db)
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(p.DB, p.Schema)
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
	if err := s.createTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// played plays a scene to its end.
func played(t *testing.T, p *pawl.Pawl, s script) {
	t.Helper()
	if err := s.Produce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// tamper changes the scenes' tables behind everybody's back.
func (s *database) tamper(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.own.SQL.ExecContext(t.Context(), s.own.Text(statement)); err != nil {
		t.Fatal(err)
	}
}

func (s *database) checkShop(t *testing.T) *shop.Verdict {
	t.Helper()
	v, err := shop.Judge(t.Context(), s.own)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (s *database) checkETL(t *testing.T) *etl.Verdict {
	t.Helper()
	v, err := etl.Judge(t.Context(), s.own)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The verdict is worth something only if it sees what is wrong.
func TestShopVerdictSeesTampering(t *testing.T) {
	orders, err := shop.Read(shop.Bundled())
	if err != nil {
		t.Fatal(err)
	}
	onDatabases(t, func(t *testing.T, s *database, p *pawl.Pawl) {
		played(t, p, &shop.Scene{DB: s.own, Outbox: p.Outbox, Orders: orders[:60]})
		before := s.checkShop(t)
		if !before.Good() || before.Delivered+before.Failed != before.Messages || before.Messages != 2*before.Committed {
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
			was := s.checkShop(t)
			s.tamper(t, c.statement)
			now := s.checkShop(t)
			if now.Lost-was.Lost != c.lost || now.Phantom-was.Phantom != c.phantom || now.Good() {
				t.Errorf("%s: lost %d more, phantom %d more; want %d, %d", c.name, now.Lost-was.Lost, now.Phantom-was.Phantom, c.lost, c.phantom)
			}
		}
	})
}

// wrong is what an ETL verdict has against what happened.
type wrong struct{ lost, early, doubled, phantom int64 }

func wrongIn(v *etl.Verdict) wrong { return wrong{v.Lost, v.Early, v.Doubled, v.Phantom} }

func TestETLVerdictSeesTampering(t *testing.T) {
	const runs = 30
	const completed, failed = `(SELECT min(run_id) FROM pawl.etl_transforms)`, `(SELECT min(run_id) FROM pawl.etl_notices)`
	onDatabases(t, func(t *testing.T, s *database, p *pawl.Pawl) {
		played(t, p, &etl.Scene{DB: s.own, Joins: p.Joins, Runs: runs})
		before := s.checkETL(t)
		if !before.Good() || before.Runs != runs || before.Failed == 0 || before.Retried == 0 || before.Extracts != 3*runs-before.Failed {
			t.Fatalf("untouched: %+v", before)
		}
		// Each undoes what it did: they build on the same runs.
		for _, c := range []struct {
			name, statement, undo string
			want                  wrong
		}{
			{"a transform that saw two extracts", `UPDATE pawl.etl_transforms SET extracts = 2 WHERE run_id = ` + completed,
				`UPDATE pawl.etl_transforms SET extracts = 3`, wrong{early: 1}},
			{"a run of which pawl has no join", `INSERT INTO pawl.etl_runs VALUES ('r', 'c', 'j')`, `DELETE FROM pawl.etl_runs WHERE id = 'r'`, wrong{lost: 1}},
			{"a second transform", `INSERT INTO pawl.etl_transforms SELECT 'm', ` + completed + `, 3, 0`,
				`DELETE FROM pawl.etl_transforms WHERE message_id = 'm'`, wrong{doubled: 1}},
			{"a notice of a run that completed", `INSERT INTO pawl.etl_notices SELECT 'm', ` + completed,
				`DELETE FROM pawl.etl_notices WHERE message_id = 'm'`, wrong{doubled: 1, phantom: 1}},
			{"a transform of a run that failed", `INSERT INTO pawl.etl_transforms SELECT 'm', ` + failed + `, 2, 0`,
				`DELETE FROM pawl.etl_transforms WHERE message_id = 'm'`, wrong{early: 1, doubled: 1, phantom: 1}},
			{"a transform of nobody", `INSERT INTO pawl.etl_transforms VALUES ('m', 'nobody', 3, 0)`,
				`DELETE FROM pawl.etl_transforms WHERE message_id = 'm'`, wrong{phantom: 1}},
			{"a failure that no handler noted", `UPDATE pawl.etl_deliveries SET outcome = 'none' WHERE outcome = 'rejected' AND run_id = ` + failed,
				`UPDATE pawl.etl_deliveries SET outcome = 'rejected' WHERE outcome = 'none'`, wrong{lost: 1, phantom: 1}},
			{"a transform that never was", `DELETE FROM pawl.etl_transforms WHERE run_id = ` + completed, ``, wrong{lost: 1}},
			{"a notice that never was", `DELETE FROM pawl.etl_notices WHERE run_id = ` + failed, ``, wrong{lost: 2}},
			{"an extract that never was", `DELETE FROM pawl.etl_extracts WHERE message_id = (SELECT min(message_id) FROM pawl.etl_extracts WHERE run_id = ` + completed + `)`,
				``, wrong{lost: 2, early: 1}},
		} {
			s.tamper(t, c.statement)
			if v := s.checkETL(t); wrongIn(v) != c.want || v.Good() {
				t.Errorf("%s: %+v, want %+v", c.name, v, c.want)
			}
			if c.undo != "" {
				s.tamper(t, c.undo)
			}
		}
	})
}

// D-792: the verdict of checkouts sees what is not booked, or not ended, once.
func TestCheckoutVerdictSeesTampering(t *testing.T) {
	const checkouts = 40
	const approved, declined = `(SELECT min(id) FROM pawl.checkouts WHERE declined = 0)`, `(SELECT min(id) FROM pawl.checkouts WHERE declined = 1)`
	onDatabases(t, func(t *testing.T, s *database, p *pawl.Pawl) {
		played(t, p, &checkout.Scene{DB: s.own, Pawl: p, Checkouts: checkouts})
		judge := func() *checkout.Verdict {
			v, err := checkout.Judge(t.Context(), s.own)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if before := judge(); !before.Good() || before.Checkouts != checkouts || before.Refunded == 0 || before.Booked+before.Refunded != checkouts {
			t.Fatalf("untouched: %+v", before)
		}
		// Each undoes what it did.
		for _, c := range []struct {
			name, statement, undo string
			want                  [3]int64 // lost, doubled, phantom
		}{
			{"booked twice", `INSERT INTO pawl.checkout_bookings SELECT ` + approved, `DELETE FROM pawl.checkout_bookings WHERE checkout_id = ` + approved + `; INSERT INTO pawl.checkout_bookings SELECT ` + approved, [3]int64{0, 1, 0}},
			{"ended twice", `INSERT INTO pawl.checkout_ends SELECT ` + approved, `DELETE FROM pawl.checkout_ends WHERE checkout_id = ` + approved + `; INSERT INTO pawl.checkout_ends SELECT ` + approved, [3]int64{0, 1, 0}},
			{"charged twice", `INSERT INTO pawl.checkout_charges SELECT 'k', ` + approved + `, 1`, `DELETE FROM pawl.checkout_charges WHERE key = 'k'`, [3]int64{0, 1, 0}},
			{"a checkout of which pawl has no flow", `INSERT INTO pawl.checkouts VALUES ('c', 'f', 0)`, `DELETE FROM pawl.checkouts WHERE id = 'c'`, [3]int64{1, 0, 0}},
			{"booked and declined", `INSERT INTO pawl.checkout_bookings SELECT ` + declined, `DELETE FROM pawl.checkout_bookings WHERE checkout_id = ` + declined, [3]int64{0, 0, 1}},
			{"ended by nobody", `INSERT INTO pawl.checkout_ends VALUES ('nobody')`, `DELETE FROM pawl.checkout_ends WHERE checkout_id = 'nobody'`, [3]int64{0, 0, 1}},
			{"refunded and booked", `INSERT INTO pawl.checkout_refunds SELECT 'k', ` + approved + `, 1`, `DELETE FROM pawl.checkout_refunds WHERE key = 'k'`, [3]int64{0, 0, 1}},
			{"never refunded", `UPDATE pawl.checkout_refunds SET checkout_id = 'x' || checkout_id WHERE checkout_id = ` + declined, `UPDATE pawl.checkout_refunds SET checkout_id = substr(checkout_id, 2) WHERE checkout_id LIKE 'x%'`, [3]int64{1, 0, 1}},
			{"never booked", `DELETE FROM pawl.checkout_bookings WHERE checkout_id = ` + approved, `INSERT INTO pawl.checkout_bookings SELECT ` + approved, [3]int64{1, 0, 0}},
			{"never ended", `DELETE FROM pawl.checkout_ends WHERE checkout_id = ` + approved, `INSERT INTO pawl.checkout_ends SELECT ` + approved, [3]int64{1, 0, 0}},
			{"a receipt that never came", `DELETE FROM pawl.checkout_receipts WHERE checkout_id = ` + approved, "", [3]int64{1, 0, 0}},
		} {
			s.tamper(t, c.statement)
			if v := judge(); [3]int64{v.Lost, v.Doubled, v.Phantom} != c.want || v.Good() {
				t.Errorf("%s: %+v, want %v", c.name, v, c.want)
			}
			for _, undo := range strings.Split(c.undo, "; ") {
				if undo != "" {
					s.tamper(t, undo)
				}
			}
		}
	})
}

func TestVerdictSaysWhatIsWrong(t *testing.T) {
	shopGood, etlGood, checkoutGood := shop.Verdict{Committed: 1}, etl.Verdict{Runs: 1, Completed: 1, Transforms: 1}, checkout.Verdict{Checkouts: 2, Booked: 1, Refunded: 1, Ended: 1, Receipts: 1}
	if err := (&Verdict{&shopGood, &etlGood, &checkoutGood}).Err(); err != nil {
		t.Error(err)
	}
	lost, early, doubled := shop.Verdict{Committed: 1, Lost: 2}, etl.Verdict{Runs: 1, Completed: 1, Transforms: 1, Early: 3}, checkoutGood
	doubled.Doubled = 4
	want := "demo: orders: 2 lost, 0 phantom; ETL: 0 lost, 3 early, 0 doubled, 0 phantom; checkouts: 0 lost, 4 doubled, 0 phantom"
	if err := (&Verdict{&lost, &early, &doubled}).Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if v := (etl.Verdict{Runs: 2, Completed: 1, Transforms: 1}); v.Good() {
		t.Error("good although a join is pending")
	}
	if v := (checkout.Verdict{Checkouts: 2, Booked: 1, Ended: 1, Receipts: 1}); v.Good() {
		t.Error("good although a checkout is pending")
	}
}
