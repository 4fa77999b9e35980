package shell

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// holdBack is how many bytes of what a command prints on a stream are held back until it ends.
const holdBack = 4 << 20

// stream is one of the two on which a command prints. What it printed is passed on in one piece
// when it ends; if that is more than holdBack, it is passed on as it comes, in whole lines.
// Nothing else waits for it meanwhile.
type stream struct {
	to    io.Writer
	buf   []byte
	wrong error
}

// Write collects output. It never fails: a command is not to die halfway of
// what end will report.
func (st *stream) Write(b []byte) (int, error) {
	st.buf = append(st.buf, b...)
	if len(st.buf) <= holdBack {
		return len(b), nil
	}
	lines := bytes.LastIndexByte(st.buf, '\n') + 1
	if lines == 0 { // there is no end to it
		st.buf = append(st.buf, '\n')
		lines = len(st.buf)
	}
	st.pass(lines)
	return len(b), nil
}

// end passes on what is left, and gives a last line its end: what the next command prints
// begins on a line of its own.
func (st *stream) end() error {
	if n := len(st.buf); n > 0 && st.buf[n-1] != '\n' {
		st.buf = append(st.buf, '\n')
	}
	st.pass(len(st.buf))
	return st.wrong
}

func (st *stream) pass(n int) {
	if st.wrong == nil && n > 0 {
		_, st.wrong = st.to.Write(st.buf[:n])
	}
	st.buf = append(st.buf[:0], st.buf[n:]...)
}

// tailBytes is how much of standard error is kept as a message's error. With
// the exit status before it, it stays below the 2 KiB that are stored (D-7).
const tailBytes = 2048 - 64

// tail keeps the end of what is written to it.
type tail struct{ buf []byte }

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if extra := len(t.buf) - tailBytes; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(b), nil
}

// text is the end as text, beginning with a whole character.
func (t *tail) text() string {
	b := t.buf
	for len(b) > 0 && len(b) > tailBytes-utf8.UTFMax && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD"))
}
