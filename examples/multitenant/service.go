package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/sqlite"
)

// Placed is the topic of new orders.
var Placed = pawl.NewTopic[Order]("order.placed")

// Order is what a message is about.
type Order struct {
	Number int64  `json:"number"`
	What   string `json:"what"`
}

// service is the program.
type service struct {
	dir     string
	control *sql.DB
	fleet   *fleet.Fleet
	done    func() error
}

const orders = "CREATE TABLE IF NOT EXISTS orders (number integer PRIMARY KEY, what text NOT NULL, confirmed integer NOT NULL DEFAULT 0)"

var nameOfTenant = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`) // it is part of a path

// addTenant adds a tenant: it can be used at once.
func (s *service) addTenant(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("tenant")
	if !nameOfTenant.MatchString(name) {
		http.Error(w, "want a name of a-z, 0-9 and -", http.StatusBadRequest)
		return
	}
	err := func() error {
		url := "sqlite:" + filepath.Join(s.dir, name+".db")
		if _, err := s.control.ExecContext(r.Context(), "INSERT INTO tenants VALUES (?, ?) ON CONFLICT DO NOTHING", name, url); err != nil {
			return err
		}
		if err := s.fleet.Refresh(r.Context()); err != nil {
			return err
		}
		p, err := s.fleet.Pawl(r.Context(), name)
		if err != nil {
			return err
		}
		if err := p.Migrate(r.Context()); err != nil {
			return err
		}
		_, err = sqlite.SQL(p.DB()).ExecContext(r.Context(), orders)
		return err
	}()
	answer(w, err, name+" is here")
}

// placeOrder writes an order and its message in one transaction of the tenant's database.
func (s *service) placeOrder(w http.ResponseWriter, r *http.Request) {
	what, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	o := Order{What: string(what)}
	err = s.inTenant(r, func(p *pawl.Pawl, tx *sql.Tx) error {
		if err := tx.QueryRowContext(r.Context(), "INSERT INTO orders (what) VALUES (?) RETURNING number", o.What).Scan(&o.Number); err != nil {
			return err
		}
		_, err := Placed.EnqueueTx(r.Context(), p, tx, o)
		return err
	})
	answer(w, err, fmt.Sprintf("order %d of %s", o.Number, r.PathValue("tenant")))
}

// inTenant runs fn in a transaction of the database of the tenant that a path names.
func (s *service) inTenant(r *http.Request, fn func(*pawl.Pawl, *sql.Tx) error) error {
	p, err := s.fleet.Pawl(r.Context(), r.PathValue("tenant"))
	if err != nil {
		return err
	}
	tx, err := sqlite.SQL(p.DB()).BeginTx(r.Context(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := fn(p, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// confirm handles the messages of all tenants: StoreOf says whose one is. It may come again, and then
// changes nothing.
func (s *service) confirm(ctx context.Context, d *pawl.Delivery[Order]) error {
	of := fleet.StoreOf(ctx)
	_, err := sqlite.SQL(of.Pawl.DB()).ExecContext(ctx, "UPDATE orders SET confirmed = 1 WHERE number = ?", d.Body.Number)
	return err
}

// listOrders lists a tenant's orders.
func (s *service) listOrders(w http.ResponseWriter, r *http.Request) {
	err := s.inTenant(r, func(_ *pawl.Pawl, tx *sql.Tx) error {
		rows, err := tx.QueryContext(r.Context(), "SELECT number, what, confirmed FROM orders ORDER BY number")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var o Order
			var confirmed bool
			if err := rows.Scan(&o.Number, &o.What, &confirmed); err != nil {
				return err
			}
			fmt.Fprintf(w, "%d %s, confirmed: %v\n", o.Number, o.What, confirmed)
		}
		return rows.Err()
	})
	answer(w, err, "")
}

// answer ends a request.
func answer(w http.ResponseWriter, err error, text string) {
	switch {
	case errors.Is(err, fleet.ErrUnknownStore):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case text != "":
		fmt.Fprintln(w, text)
	}
}
