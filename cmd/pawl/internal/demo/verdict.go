package demo

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/demo/etl"
	"github.com/bravellian/pawl/cmd/pawl/internal/demo/shop"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// Verdict is what the database says afterwards, of every scene.
type Verdict struct {
	Shop *shop.Verdict
	ETL  *etl.Verdict
}

// Err says in one line what is wrong, if something is.
func (v *Verdict) Err() error {
	var wrong []string
	if !v.Shop.Good() {
		wrong = append(wrong, fmt.Sprintf("orders: %d lost, %d phantom", v.Shop.Lost, v.Shop.Phantom))
	}
	if !v.ETL.Good() {
		wrong = append(wrong, fmt.Sprintf("ETL: %d lost, %d early, %d doubled, %d phantom", v.ETL.Lost, v.ETL.Early, v.ETL.Doubled, v.ETL.Phantom))
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New("demo: " + strings.Join(wrong, "; "))
}

// Print prints a verdict as a table.
func Print(w io.Writer, v *Verdict) error {
	var t terminal.Table
	row := func(name string, n int64, comment string) {
		t.Row(name, fmt.Sprintf("%6d", n), comment)
	}
	printShop(row, v.Shop)
	t.Row()
	printETL(row, v.ETL)
	return t.Write(w, terminal.Width(w))
}

func printShop(row func(string, int64, string), v *shop.Verdict) {
	row("orders committed", v.Committed, "")
	row("orders rolled back", v.RolledBack, "payment declined after all was written")
	row("messages", v.Messages, "two for every committed order")
	row("delivered", v.Delivered, "took effect, once each")
	row("failed for good", v.Failed, "refused by the other side")
	row("retried", v.Retried, "the other side was busy")
	row("redelivered", v.Redelivered, "came again after their worker was killed")
	row("duplicates", v.Duplicates, "in effect before the kill, recognised")
	row("lost", v.Lost, "committed, but neither delivered nor failed")
	row("phantom", v.Phantom, "without a committed order")
	row("messages/s", int64(v.PerSecond), fmt.Sprintf("in %.1fs, the wait for the lease included", v.Seconds))
	row("busiest second", v.BusiestSecond, "messages")
}

func printETL(row func(string, int64, string), v *etl.Verdict) {
	row("ETL runs", v.Runs, "three extracts each, side by side, and a join")
	row("joins completed", v.Completed, "the last extract was done")
	row("joins failed", v.Failed, "a source was gone for good")
	row("extracts", v.Extracts, "recorded, once each")
	row("transforms", v.Transforms, "one for every completed join")
	row("notifications", v.Notices, "one for every failed join")
	row("retried", v.Retried, "the source was busy")
	row("redelivered", v.Redelivered, "came again after their worker was killed")
	row("duplicates", v.Duplicates, "in effect before the kill, recognised")
	row("lost", v.Lost, "runs without the end they should have")
	row("early", v.Early, "transformed before all three extracts were recorded")
	row("doubled", v.Doubled, "follow-ups beyond the one of each run")
	row("phantom", v.Phantom, "effects that no run accounts for")
}
