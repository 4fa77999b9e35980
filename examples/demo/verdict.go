package demo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/examples/demo/checkout"
	"github.com/bravellian/pawl/examples/demo/etl"
	"github.com/bravellian/pawl/examples/demo/shop"
)

// Verdict is what the database says afterwards, of each scene.
type Verdict struct {
	Shop     *shop.Verdict
	ETL      *etl.Verdict
	Checkout *checkout.Verdict
}

// Err returns what is wrong in one line, or nil.
func (v *Verdict) Err() error {
	var wrong []string
	if !v.Shop.Good() {
		wrong = append(wrong, fmt.Sprintf("orders: %d lost, %d phantom", v.Shop.Lost, v.Shop.Phantom))
	}
	if !v.ETL.Good() {
		wrong = append(wrong, fmt.Sprintf("ETL: %d lost, %d early, %d doubled, %d phantom", v.ETL.Lost, v.ETL.Early, v.ETL.Doubled, v.ETL.Phantom))
	}
	if c := v.Checkout; !c.Good() {
		wrong = append(wrong, fmt.Sprintf("checkouts: %d lost, %d doubled, %d phantom", c.Lost, c.Doubled, c.Phantom))
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New("demo: " + strings.Join(wrong, "; "))
}
