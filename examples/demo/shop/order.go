// Package shop is a small order service. It writes every order into its own tables
// together with two messages, in one transaction: one has a mail sent, the other an
// invoice written. Judge asks the database afterwards whether both happened once.
package shop

import (
	"bufio"
	"bytes"
	_ "embed" // the bundled orders
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

//go:generate go run ./generate orders.jsonl

//go:embed orders.jsonl
var bundled []byte

// Bundled returns the orders that come with the program, one a line.
func Bundled() io.Reader { return bytes.NewReader(bundled) }

// Order is what a customer ordered. Amounts are in hundredths of the currency.
type Order struct {
	ID            string    `json:"id"`
	PlacedAt      time.Time `json:"placed_at"`
	Customer      Customer  `json:"customer"`
	ShipTo        Address   `json:"ship_to"`
	Lines         []Line    `json:"lines"`
	ShippingCents int64     `json:"shipping_cents"`
	TotalCents    int64     `json:"total_cents"`
	Currency      string    `json:"currency"`
	Payment       Payment   `json:"payment"`
}

// Customer is who ordered.
type Customer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Address is where the goods go.
type Address struct {
	Street   string `json:"street"`
	Postcode string `json:"postcode"`
	City     string `json:"city"`
	Country  string `json:"country"`
}

// Line is one kind of goods.
type Line struct {
	SKU       string `json:"sku"`
	Name      string `json:"name"`
	Quantity  int    `json:"quantity"`
	UnitCents int64  `json:"unit_cents"`
}

// Payment is what the payment provider will say when asked.
type Payment struct {
	Method string `json:"method"`
	Status string `json:"status"`
}

// The answers of the payment provider.
const (
	Approved = "approved"
	Declined = "declined"
)

// maxOrder bounds one line of input.
const maxOrder = 1 << 20

// Read reads orders, one JSON object a line. A mistake anywhere means none.
func Read(r io.Reader) ([]Order, error) {
	var orders []Order
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxOrder)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var o Order
		err := json.Unmarshal(lines.Bytes(), &o)
		if err == nil {
			err = o.check()
		} else {
			err = errors.New("not an order as JSON") // the decoder's words quote it
		}
		if err == nil && seen[o.ID] {
			err = fmt.Errorf("a second order %q", o.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		seen[o.ID] = true
		orders = append(orders, o)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(orders) == 0 {
		return nil, errors.New("no orders")
	}
	return orders, nil
}

func (o *Order) check() error {
	const limit = 255 // it becomes a correlation id
	sum := o.ShippingCents
	for _, l := range o.Lines {
		sum += int64(l.Quantity) * l.UnitCents
	}
	switch {
	case o.ID == "" || len(o.ID) > limit:
		return errors.New("the order's id is empty or too long")
	case o.Customer.Email == "":
		return errors.New("the customer has no email")
	case len(o.Lines) == 0:
		return errors.New("the order has no lines")
	case sum != o.TotalCents:
		return fmt.Errorf("the total is %d, its parts make %d", o.TotalCents, sum)
	}
	return nil
}
