package outbox_test

import (
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-211: a message that somebody holds locked is not overtaken by those of its key, and a claim
// does not wait for it.
func TestOrderWhileAMessageIsLocked(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: outbox.New(d, outbox.Options{}), t: t, db: d}
	at := f.inOrder("a1")
	tx := f.begin()
	if _, err := tx.ExecContext(t.Context(), "SELECT * FROM "+d.Table("outbox_hold")+"(ARRAY[$1::bigint])", int64(at[0])); err != nil {
		t.Fatal(err)
	}
	f.inOrder(slices.Repeat([]string{"b1"}, 600)...) // more than are put in order at once
	f.inOrder("a2", "c1")
	f.take("b1", "c1")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	f.take("a1", "b1")
	f.take("a2", "b1")
}

// D-211: while the first of a key is being settled the next one is not claimed, nor lost, and a
// claim does not wait for it.
func TestOrderWhileTheHeadIsSettled(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: outbox.New(d, outbox.Options{}), t: t, db: d}
	for _, commits := range []bool{false, true} {
		f.inOrder("a1")
		owner, msgs := f.next("a1")
		tx := f.begin()
		if _, err := tx.ExecContext(t.Context(), "SELECT "+d.Table("outbox_ack")+"($1, ARRAY[$2::bigint])", owner.String(), int64(msgs[0].Position)); err != nil {
			t.Fatal(err)
		}
		f.inOrder("a2")
		f.next()
		if commits {
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			f.take("a2")
			return
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		f.next()
		f.touched(1)(f.Ack(t.Context(), owner, msgs[0].Position))
		f.take("a2")
	}
}

// D-211: SQL enqueues in order, too, beside programs in Go, and other languages claim in order.
func TestOrderInSQL(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: outbox.New(d, outbox.Options{}), t: t, db: d}
	f.inOrder("a1")
	enqueue := "SELECT " + d.Table("outbox_enqueue") + "('t', $1::text, headers => '{\"pawl-ordering-key\": \"a\"}')"
	if _, err := d.SQL.ExecContext(t.Context(), enqueue, "a2"); err != nil {
		t.Fatal(err)
	}
	f.inOrder("a3")
	for _, want := range []string{"a1", "a2", "a3"} {
		owner := outbox.NewOwnerToken()
		var id int64
		var payload string
		claim := d.SQL.QueryRowContext(t.Context(), "SELECT id, payload FROM "+d.Table("outbox_claim")+"($1, 60, 10)", owner.String())
		if err := claim.Scan(&id, &payload); err != nil || payload != want {
			t.Fatalf("claimed %q, %v, want %q", payload, err, want)
		}
		if _, err := d.SQL.ExecContext(t.Context(), "SELECT "+d.Table("outbox_ack")+"($1, ARRAY[$2::bigint])", owner.String(), id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.SQL.ExecContext(t.Context(), enqueue[:len(enqueue)-1]+", priority => 1)", "a4"); err == nil {
		t.Error("a priority was accepted")
	}
}
