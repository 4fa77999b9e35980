// Command generate writes the orders that the demo reads: made up, but of the
// shape that real ones have. It makes the same ones each time.
//
//	go generate ./examples/demo/shop
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/bravellian/pawl/examples/demo/shop"
)

const count = 1200

func main() {
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	g := &generator{r: rand.New(rand.NewPCG(1870, 4)), at: time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)}
	for n := range count {
		if err := e.Encode(g.order(n + 1)); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

type generator struct {
	r  *rand.Rand
	at time.Time
}

func (g *generator) order(n int) shop.Order {
	c := pick(g, countries())
	g.at = g.at.Add(time.Duration(g.r.ExpFloat64() * float64(40*time.Second))).Truncate(time.Second)
	o := shop.Order{
		ID:       fmt.Sprintf("ORD-2026-%05d", n),
		PlacedAt: g.at,
		Customer: g.customer(c),
		ShipTo: shop.Address{
			Street: fmt.Sprintf(pick(g, c.streets), 1+g.r.IntN(140)), Postcode: g.postcode(c.postcode), City: pick(g, c.cities), Country: c.code,
		},
		Currency: c.currency,
		Lines:    g.lines(c.rate),
		Payment:  shop.Payment{Method: pick(g, []string{"card", "card", "card", "wallet", "transfer"}), Status: shop.Approved},
	}
	if g.r.IntN(25) == 0 {
		o.Payment.Status = shop.Declined
	}
	for _, l := range o.Lines {
		o.TotalCents += int64(l.Quantity) * l.UnitCents
	}
	if o.TotalCents < int64(5000*c.rate) {
		o.ShippingCents = int64(490 * c.rate)
	}
	o.TotalCents += o.ShippingCents
	return o
}

func (g *generator) customer(c country) shop.Customer {
	first, last := pick(g, c.first), pick(g, c.last)
	local := ascii(strings.ToLower(first + "." + last))
	if g.r.IntN(3) == 0 {
		local += fmt.Sprint(1 + g.r.IntN(99))
	}
	return shop.Customer{Name: first + " " + last, Email: local + "@" + pick(g, []string{"example.com", "example.org", "example.net"})}
}

// postcode fills a pattern: # is a digit, A a letter.
func (g *generator) postcode(pattern string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '#':
			return '0' + rune(g.r.IntN(10))
		case 'A':
			return rune("ABCEGHJKLMNPRSTVXY"[g.r.IntN(18)])
		}
		return r
	}, pattern)
}

func (g *generator) lines(rate float64) []shop.Line {
	goods := products()
	g.r.Shuffle(len(goods), func(i, k int) { goods[i], goods[k] = goods[k], goods[i] })
	lines := make([]shop.Line, 1+min(g.r.IntN(3), g.r.IntN(5)))
	for i := range lines {
		lines[i] = shop.Line{SKU: goods[i].sku, Name: goods[i].name, Quantity: 1 + g.r.IntN(2)*g.r.IntN(3), UnitCents: int64(float64(goods[i].cents) * rate)}
	}
	return lines
}

func pick[T any](g *generator, from []T) T { return from[g.r.IntN(len(from))] }

// ascii writes a name as people do in addresses of mail.
func ascii(s string) string {
	return strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e", "ç", "c", "ñ", "n", "ł", "l", "ż", "z", "ń", "n",
		"á", "a", "í", "i", "ú", "u", "ó", "o", "å", "a", "ø", "o", "ã", "a", "'", "", " ", "").Replace(s)
}
