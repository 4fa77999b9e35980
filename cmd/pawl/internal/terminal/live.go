package terminal

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// Is reports whether what is written to w appears on a terminal.
func Is(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is the width of the terminal that w writes to, or 0.
func Width(w io.Writer) int {
	if !Is(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 80
	}
	return width
}

// Live keeps one line at the bottom of a terminal up to date while other
// output scrolls above it. Where there is no terminal it shows nothing. It is safe for
// concurrent use.
type Live struct {
	mu   sync.Mutex
	w    io.Writer
	on   bool
	text string
}

// NewLive shows its line on w, which should be standard error.
func NewLive(w io.Writer) *Live { return &Live{w: w, on: Is(w)} }

// On reports whether there is a terminal to show the line on.
func (l *Live) On() bool { return l.on }

const clearLine = "\r\x1b[K"

// Show replaces the line.
func (l *Live) Show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on {
		return
	}
	// One column stays free: a full line makes some terminals scroll.
	l.text = Cut(Clean(text), max(Width(l.w)-1, 0))
	_, _ = io.WriteString(l.w, clearLine+l.text)
}

// Clear takes the line away; Show brings it back.
func (l *Live) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text != "" {
		_, _ = io.WriteString(l.w, clearLine)
	}
	l.text = ""
}

// Abandon takes the line away for an exit that waits for nothing: not even for
// a writer that is stuck.
func (l *Live) Abandon() {
	if !l.mu.TryLock() {
		return
	}
	defer l.mu.Unlock()
	if l.text != "" {
		_, _ = io.WriteString(l.w, "\n")
	}
}

// Through returns a writer to w, whose writes appear above the line. Each write
// should be whole lines. Where w is no terminal the line waits for none of them.
func (l *Live) Through(w io.Writer) io.Writer {
	if l.on && (w == l.w || Is(w)) {
		return through{l, w}
	}
	return &inTurn{w: w}
}

// inTurn keeps writers from mixing.
type inTurn struct {
	mu sync.Mutex
	w  io.Writer
}

func (t *inTurn) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Write(p)
}

type through struct {
	live *Live
	w    io.Writer
}

func (t through) Write(p []byte) (int, error) {
	t.live.mu.Lock()
	defer t.live.mu.Unlock()
	if t.live.text == "" {
		return t.w.Write(p)
	}
	_, _ = io.WriteString(t.live.w, clearLine)
	n, err := t.w.Write(p)
	_, _ = io.WriteString(t.live.w, t.live.text)
	return n, err
}
