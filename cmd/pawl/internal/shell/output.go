package shell

import (
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// output is where the commands of a Runner speak, one after the other: who has
// the floor is not interrupted.
type output struct {
	floor          sync.Mutex
	stdout, stderr io.Writer
}

func (o *output) begin() *speech {
	s := &speech{floor: &o.floor}
	s.stdout, s.stderr = stream{of: s, w: o.stdout}, stream{of: s, w: o.stderr}
	return s
}

// holdBack is how much of a command's output is held back until it ends.
const holdBack = 1 << 20

// speech is what one command says on both streams. It is held back until the
// command ends; if that is too much, the command has the floor from then on, so
// that even endless output stays in one piece without being held in memory.
type speech struct {
	floor          *sync.Mutex
	mu             sync.Mutex
	speaks         bool
	stdout, stderr stream
}

// end passes on what is left.
func (s *speech) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stdout.finishLine()
	s.stderr.finishLine()
	s.pass(&s.stdout)
	s.pass(&s.stderr)
	if s.speaks {
		s.speaks = false
		s.floor.Unlock()
	}
	return errors.Join(s.stdout.wrong, s.stderr.wrong)
}

func (s *speech) pass(st *stream) {
	if len(st.buf) == 0 {
		return
	}
	if !s.speaks {
		s.floor.Lock()
		s.speaks = true
	}
	if st.wrong == nil {
		_, st.wrong = st.w.Write(st.buf)
	}
	st.buf = st.buf[:0]
}

// stream is one of a command's two.
type stream struct {
	of      *speech
	w       io.Writer
	buf     []byte
	midLine bool
	wrong   error
}

// Write collects output. It never fails: a command is not to die halfway of
// what end will report.
func (st *stream) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	st.of.mu.Lock()
	defer st.of.mu.Unlock()
	st.midLine = b[len(b)-1] != '\n'
	st.buf = append(st.buf, b...)
	if len(st.buf) > holdBack {
		st.of.pass(st)
	}
	return len(b), nil
}

// finishLine gives a last line its end: what the next command says begins on a
// line of its own.
func (st *stream) finishLine() {
	if st.midLine {
		st.buf = append(st.buf, '\n')
	}
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
