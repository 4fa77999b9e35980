package main

import (
	"fmt"
	"io"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/examples/demo"
	"github.com/bravellian/pawl/examples/demo/checkout"
	"github.com/bravellian/pawl/examples/demo/etl"
	"github.com/bravellian/pawl/examples/demo/shop"
)

// board shows events one a line, and the progress on a line that changes, or every
// second where there is no terminal.
type board struct {
	live  *terminal.Live
	w     io.Writer
	began time.Time
	next  time.Time
}

func newBoard(w io.Writer) *board {
	live := terminal.NewLive(w)
	return &board{live: live, w: live.Through(w), began: time.Now()}
}

// Say prints an event.
func (b *board) Say(format string, args ...any) {
	fmt.Fprintf(b.w, "%5.1fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// Show shows the progress; "" removes it.
func (b *board) Show(text string) {
	if text == "" {
		b.live.Clear()
		return
	}
	if b.live.On() {
		b.live.Show(fmt.Sprintf("%5.1fs  %s", time.Since(b.began).Seconds(), text))
		return
	}
	if now := time.Now(); now.After(b.next) {
		b.next = now.Add(time.Second)
		b.Say("%s", text)
	}
}

// printVerdict prints a verdict as a table.
func printVerdict(w io.Writer, v *demo.Verdict) error {
	var t terminal.Table
	row := func(name string, n int64, comment string) {
		t.Row(name, fmt.Sprintf("%6d", n), comment)
	}
	printShop(row, v.Shop)
	t.Row()
	printETL(row, v.ETL)
	t.Row()
	printCheckouts(row, v.Checkout)
	return t.Write(w, terminal.Width(w))
}

func printShop(row func(string, int64, string), v *shop.Verdict) {
	row("orders committed", v.Committed, "")
	row("orders rolled back", v.RolledBack, "payment declined after all was written")
	row("messages", v.Messages, "two for every committed order")
	row("delivered", v.Delivered, "took effect, once each")
	row("failed for good", v.Failed, "refused by the other side")
	row("retried", v.Retried, "the other side was busy")
	row("duplicates", v.Duplicates, "came again after the kill, and were recognized")
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
	row("duplicates", v.Duplicates, "came again after the kill, and were recognized")
	row("lost", v.Lost, "runs without the end they should have")
	row("early", v.Early, "transformed before all three extracts were recorded")
	row("doubled", v.Doubled, "follow-ups beyond the one of each run")
	row("phantom", v.Phantom, "effects that no run accounts for")
}

func printCheckouts(row func(string, int64, string), v *checkout.Verdict) {
	row("checkouts", v.Checkouts, "a durable flow each: charge, wait for approval, book")
	row("booked", v.Booked, "approved, once each")
	row("refunded", v.Refunded, "declined, and the charge was undone")
	row("ended", v.Ended, "once each, with its receipt")
	row("receipts", v.Receipts, "one for every end")
	row("calls again", v.Again, "after the kill; the bank recognized them by their key")
	row("lost", v.Lost, "checkouts without the end they should have")
	row("doubled", v.Doubled, "charges, bookings, ends, receipts beyond one each")
	row("phantom", v.Phantom, "effects that no checkout accounts for")
}
