package demo

import (
	"fmt"
	"io"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/demo/shop"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/outbox"
)

// Board tells the audience what happens: events one a line, and the state of
// things on a line that changes, or every second where lines cannot change.
type Board struct {
	live  *terminal.Live
	w     io.Writer
	began time.Time
	next  time.Time
}

// NewBoard shows on w, which should be standard error.
func NewBoard(w io.Writer) *Board {
	live := terminal.NewLive(w)
	return &Board{live: live, w: live.Through(w), began: time.Now()}
}

// Say tells of an event.
func (b *Board) Say(format string, args ...any) {
	fmt.Fprintf(b.w, "%5.1fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// Show shows the state of things.
func (b *Board) Show(taken int64, n outbox.Counts) {
	text := fmt.Sprintf("%d orders: %d delivered, %d in hand, %d waiting, %d retrying, %d failed",
		taken, n.Done, n.InProgress, n.Ready, n.Scheduled, n.Failed)
	if b.live.On() {
		b.live.Show(fmt.Sprintf("%5.1fs  %s", time.Since(b.began).Seconds(), text))
		return
	}
	if now := time.Now(); now.After(b.next) {
		b.next = now.Add(time.Second)
		b.Say("%s", text)
	}
}

// Clear takes the changing line away.
func (b *Board) Clear() { b.live.Clear() }

// Print prints a verdict as a table.
func Print(w io.Writer, v *shop.Verdict) error {
	var t terminal.Table
	row := func(name string, n int64, comment string) {
		t.Row(name, fmt.Sprintf("%6d", n), comment)
	}
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
	return t.Write(w, terminal.Width(w))
}
