package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// shop is the program.
type shop struct {
	pawl    *pawl.Pawl
	db      *sql.DB
	expire  time.Duration
	partner string
	private bool
}

// inTransaction runs fn in a transaction, and answers the request: with what fn returns, after the commit.
func (s *shop) inTransaction(w http.ResponseWriter, r *http.Request, fn func(ctx context.Context, tx *sql.Tx) (string, error)) {
	text, err := func() (string, error) {
		tx, err := s.db.BeginTx(r.Context(), nil)
		if err != nil {
			return "", err
		}
		defer func() { _ = tx.Rollback() }()
		text, err := fn(r.Context(), tx)
		if err != nil {
			return "", err
		}
		return text, tx.Commit()
	}()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		http.Error(w, "no such order, or not in this state", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		fmt.Fprintln(w, text)
	}
}

// place writes an order, the message that asks for the money, and the timer that cancels the order.
func (s *shop) place(w http.ResponseWriter, r *http.Request) {
	s.inTransaction(w, r, func(ctx context.Context, tx *sql.Tx) (string, error) {
		o := Order{What: r.FormValue("what"), Email: r.FormValue("email")}
		err := tx.QueryRowContext(ctx, "INSERT INTO orders (what, email, state) VALUES ($1, $2, 'placed') RETURNING number", o.What, o.Email).Scan(&o.Number)
		if err != nil {
			return "", err
		}
		if _, err := Placed.EnqueueTx(ctx, s.pawl, tx, o); err != nil {
			return "", err
		}
		_, err = Expired.ScheduleTx(ctx, s.pawl, tx, timer.Timer{Key: expiry(o.Number), Due: time.Now().Add(s.expire)}, o)
		return fmt.Sprint("order ", o.Number), err
	})
}

// pay cancels the timer, and fans out the three steps before the order can be shipped.
func (s *shop) pay(w http.ResponseWriter, r *http.Request) {
	s.inTransaction(w, r, func(ctx context.Context, tx *sql.Tx) (string, error) {
		number := numberOf(r)
		o := Order{Number: number}
		err := tx.QueryRowContext(ctx, "UPDATE orders SET state = 'paid' WHERE number = $1 AND state = 'placed' RETURNING what, email", number).Scan(&o.What, &o.Email)
		if err != nil {
			return "", err
		}
		if _, err := s.pawl.Timers.CancelKeyTx(ctx, tx, expiry(number)); err != nil {
			return "", err
		}
		steps := []outbox.Message{Pack.With(o), Label.With(o), Invoice.With(o)}
		_, err = s.pawl.Joins.FanOutTx(ctx, tx, join.Spec{GroupingKey: expiry(number)}, steps, join.Wait{OnComplete: Ready.With(o)})
		return fmt.Sprint("order ", number, " is paid"), err
	})
}

// show says what has become of an order.
func (s *shop) show(w http.ResponseWriter, r *http.Request) {
	s.inTransaction(w, r, func(ctx context.Context, tx *sql.Tx) (state string, err error) {
		return state, tx.QueryRowContext(ctx, "SELECT state FROM orders WHERE number = $1", numberOf(r)).Scan(&state)
	})
}

// numberOf is the order that a path names; 0, which is none, if it names none.
func numberOf(r *http.Request) int64 {
	number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64)
	return number
}

// expiry is the key of an order's timer.
func expiry(number int64) string { return fmt.Sprint("order/", number) }
