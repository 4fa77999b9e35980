package outbox_test

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-211: a message that somebody holds locked is not overtaken by those of its key, and a claim does not wait
// for it. Those of its key go on behind it, and without it when it is cancelled.
func TestOrderWhileAMessageIsLocked(t *testing.T) {
	t.Parallel()
	for locks, routine := range map[string]string{"hold": "outbox_hold(ARRAY[$1::bigint])", "cancel": "outbox_cancel(ARRAY[$1::bigint], NULL)"} {
		t.Run(locks, func(t *testing.T) {
			t.Parallel()
			d := dbtest.OpenPostgres(t)
			f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
			at := f.inOrder("a1")
			tx := f.begin()
			if _, err := tx.ExecContext(t.Context(), "SELECT "+d.Table("")+routine, int64(at[0])); err != nil {
				t.Fatal(err)
			}
			f.inOrder(slices.Repeat([]string{"b1"}, 600)...) // more than are put in order at once
			f.inOrder("a2", "c1")
			f.take("b1", "c1")
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if locks == "hold" {
				f.take("a1", "b1")
			}
			f.take("a2", "b1")
		})
	}
}

// D-211, D-405: messages of a key that is left, more than a claim puts in order at once, do not hide those
// of others, whether they were due at once or later.
func TestOrderBehindManyThatAreLeft(t *testing.T) {
	t.Parallel()
	for name, due := range map[string]time.Time{"at once": {}, "later": time.Now().Add(-time.Minute)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.OpenPostgres(t)
			f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
			keyed := func(name string) outbox.Message {
				m := withKey(name)
				m.Due = due
				return m
			}
			f.inOrder("a1")
			owner, msgs := f.next("a1")
			tx := f.begin()
			if _, err := tx.ExecContext(t.Context(), "SELECT "+d.Table("outbox_ack")+"($1, ARRAY[$2::bigint])", owner.String(), int64(msgs[0].Position)); err != nil {
				t.Fatal(err)
			}
			if _, err := f.EnqueueBatch(t.Context(), slices.Repeat([]outbox.Message{keyed("a2")}, 4100)); err != nil {
				t.Fatal(err)
			}
			f.enqueue(keyed("b1"))
			f.take("b1")
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			f.take("a2")
		})
	}
}

// D-211: while the first of a key is being settled the next one is not claimed, nor lost, and a
// claim does not wait for it.
func TestOrderWhileTheHeadIsSettled(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
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
		f.touched(1)(f.WorkQueue("").Ack(t.Context(), owner, msgs[0].Position))
		f.take("a2")
	}
}

// D-211: what is committed while a claim puts messages in order is not taken before what was
// committed earlier. The claim waits half-way, for a row of an open transaction.
func TestOrderOfWhatComesMeanwhile(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
	at := f.inOrder("b1")
	stop, earlier := f.begin(), f.begin()
	if _, err := stop.ExecContext(t.Context(), "INSERT INTO "+d.Table("outbox_order")+" (id, lane, key, head) VALUES ($1, 0, 'b', true)", int64(at[0])); err != nil {
		t.Fatal(err)
	}
	var pid int
	if err := stop.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if _, err := f.EnqueueTx(t.Context(), earlier, withKey("a0")); err != nil {
		t.Fatal(err)
	}
	f.inOrder("c1")
	claimed := make(chan []string)
	go func() {
		msgs, err := f.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), lease, 10)
		if err != nil {
			t.Error(err)
		}
		claimed <- names(msgs)
	}()
	dbtest.Until(t, "the claim waits", func() bool {
		return f.rows(fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE %d = ANY (pg_blocking_pids(pid))", pid)) > 0
	})
	if err := earlier.Commit(); err != nil {
		t.Fatal(err)
	}
	f.inOrder("a1")
	if err := stop.Rollback(); err != nil {
		t.Fatal(err)
	}
	if got, want := <-claimed, []string{"b1", "c1"}; !slices.Equal(got, want) {
		t.Errorf("claimed %q, want %q", got, want)
	}
	f.take("a0")
	f.take("a1")
}

// D-211: of two messages of a transaction that commits while a claim puts others in order, the second is not
// taken before the first, where one of another transaction lies between their positions: whether the claim reads again because
// there is more than it takes in one step, or not.
func TestOrderOfABatchThatComesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]int{"few": 0, "more than a step": 498} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.OpenPostgres(t)
			f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
			at := f.inOrder("b1")
			for i := range others {
				f.enqueue(outbox.Message{Topic: "t", OrderingKey: fmt.Sprint("other", i)})
			}
			stop, batch := f.begin(), f.begin()
			if _, err := stop.ExecContext(t.Context(), "INSERT INTO "+d.Table("outbox_order")+" (id, lane, key, head) VALUES ($1, 0, 'b', true)", int64(at[0])); err != nil {
				t.Fatal(err)
			}
			for _, m := range []string{"a1", "", "a2"} {
				if m == "" {
					f.inOrder("c1")
				} else if _, err := f.EnqueueTx(t.Context(), batch, withKey(m)); err != nil {
					t.Fatal(err)
				}
			}
			claimed := make(chan []string)
			go func() {
				msgs, err := f.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), lease, 1000)
				if err != nil {
					t.Error(err)
				}
				claimed <- names(msgs)
			}()
			var pid int
			if err := stop.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
				t.Fatal(err)
			}
			dbtest.Until(t, "the claim waits", func() bool {
				return f.rows(fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE %d = ANY (pg_blocking_pids(pid))", pid)) > 0
			})
			if err := batch.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := stop.Rollback(); err != nil {
				t.Fatal(err)
			}
			got := <-claimed
			if slices.Contains(got, "a2") || len(got) < others+2 {
				t.Errorf("claimed %d with %q", len(got), got[max(0, len(got)-3):])
			}
			if !slices.Contains(got, "a1") {
				f.take("a1")
			}
		})
	}
}

// D-211: SQL enqueues in order, too, beside programs in Go, and other languages claim in order.
func TestOrderInSQL(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
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

// D-324: a message that waits for the one before it, and is made due at another time while that one
// ends, is the next of its key: it is neither left where nothing is claimed nor overtaken.
func TestOrderWhileTheNextIsRescheduled(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"ack":     "outbox_ack($1, ARRAY[$2::bigint])",
		"fail":    "outbox_fail($1, ARRAY[$2::bigint])",
		"discard": "outbox_cancel(ARRAY[$2::bigint], $1)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.OpenPostgres(t)
			f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
			at := f.inOrder("a1", "a2", "a3")
			owner, msgs := f.next("a1")
			if name == "discard" {
				f.touched(1)(f.Release(t.Context(), owner, msgs[0].Position))
			}
			moves := f.begin()
			if _, err := moves.ExecContext(t.Context(), "SELECT "+d.Table("outbox_reschedule")+"(ARRAY[$1::bigint], clock_timestamp())", int64(at[1])); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := d.SQL.ExecContext(t.Context(), "SELECT "+d.Table("")+change, owner.String(), int64(at[0]))
				ended <- err
			}()
			f.blocks(moves)
			if err := moves.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			f.take("a2")
			f.take("a3")
		})
	}
}

// blocks waits until another session waits for a transaction.
func (f *fixture) blocks(tx *sql.Tx) {
	f.t.Helper()
	var pid int
	if err := tx.QueryRowContext(f.ctx(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		f.t.Fatal(err)
	}
	dbtest.Until(f.t, "a session waits for the transaction", func() bool {
		return f.rows(fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE %d = ANY (pg_blocking_pids(pid))", pid)) > 0
	})
}
