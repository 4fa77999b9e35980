package demo

import (
	"fmt"
	"io"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
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
func (b *Board) Show(text string) {
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
