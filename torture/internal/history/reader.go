package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Defects are what is wrong with the files themselves.
type Defects struct {
	Torn   int      // files whose last line is not whole: what a SIGKILL may do
	Broken []string // lines that cannot be read elsewhere: nothing may do that
}

// Files are the files of a run.
type Files []string

// Folder returns the files of a folder.
func Folder(folder string) (Files, error) {
	return filepath.Glob(filepath.Join(folder, "*"+Suffix))
}

// Each calls do for the events of all files in the order of time, and of their numbers
// within a file. The event is valid during the call. A file is open only from its first
// event to its last: there can be more files than a process may have open.
func (f Files) Each(do func(*Event) error) (Defects, error) {
	m := merge{}
	defer m.close()
	for _, path := range f {
		c := &cursor{path: path}
		switch ok, err := c.next(&m.defects); {
		case err != nil:
			return m.defects, err
		case ok:
			m.waiting = append(m.waiting, c)
		}
		c.rewind()
	}
	slices.SortFunc(m.waiting, func(a, b *cursor) int { return compare(&a.event, &b.event) })
	err := m.run(do)
	return m.defects, err
}

func compare(a, b *Event) int {
	switch {
	case a.At != b.At:
		return cmp.Compare(a.At, b.At)
	case a.Process != b.Process:
		return cmp.Compare(a.Process, b.Process)
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// merge reads several files as one.
type merge struct {
	waiting []*cursor // not open; by their first events
	open    cursors
	defects Defects
}

func (m *merge) run(do func(*Event) error) error {
	for len(m.waiting) > 0 || len(m.open) > 0 {
		if len(m.open) == 0 || len(m.waiting) > 0 && compare(&m.waiting[0].event, &m.open[0].event) < 0 {
			c := m.waiting[0]
			m.waiting = m.waiting[1:]
			// The first line is read again: its defects are known.
			if _, err := c.next(&Defects{}); err != nil {
				return err
			}
			m.open.push(c)
		}
		c := m.open[0]
		if err := do(&c.event); err != nil {
			return err
		}
		switch ok, err := c.next(&m.defects); {
		case err != nil:
			return err
		case ok:
			m.open.down()
		default:
			c.close()
			m.open.pop()
		}
	}
	return nil
}

func (m *merge) close() {
	for _, c := range m.open {
		c.close()
	}
}

// cursor is a place in a file.
type cursor struct {
	path  string
	file  *os.File
	in    *bufio.Reader
	line  int
	event Event
	long  []byte
}

const buffer = 32 << 10

// next reads the next event that can be read.
func (c *cursor) next(d *Defects) (bool, error) {
	if c.file == nil {
		file, err := os.Open(c.path)
		if err != nil {
			return false, err
		}
		c.file, c.in = file, bufio.NewReaderSize(file, buffer)
	}
	for {
		line, err := c.readLine()
		switch {
		case errors.Is(err, io.EOF) && len(line) > 0:
			d.Torn++
			return false, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("%s: %w", c.path, err)
		}
		c.line++
		c.event = Event{}
		if err := decode(line, &c.event); err == nil {
			return true, nil
		}
		const most = 100
		if len(d.Broken) < most {
			d.Broken = append(d.Broken, fmt.Sprintf("%s:%d is no event", filepath.Base(c.path), c.line))
		}
	}
}

// readLine returns a line without its end; with io.EOF, what has no end.
func (c *cursor) readLine() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	c.long = append(c.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = c.in.ReadSlice('\n')
		c.long = append(c.long, line...)
	}
	if err != nil {
		return c.long, err
	}
	return c.long[:len(c.long)-1], nil
}

func decode(line []byte, e *Event) error {
	if !bytes.HasPrefix(line, []byte("{")) {
		return errors.New("no object")
	}
	if err := json.Unmarshal(line, e); err != nil {
		return err
	}
	if !Known(e.Op) || !e.Outcome.valid() || e.Process == "" {
		return errors.New("no event")
	}
	return nil
}

// rewind closes the file; next begins at its start again.
func (c *cursor) rewind() {
	c.close()
	c.line = 0
}

func (c *cursor) close() {
	if c.file != nil {
		c.file.Close()
	}
	c.file, c.in = nil, nil
}

// cursors is a heap: the first has the earliest event.
type cursors []*cursor

func (h cursors) less(i, j int) bool { return compare(&h[i].event, &h[j].event) < 0 }

func (h *cursors) push(c *cursor) {
	*h = append(*h, c)
	s := *h
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.less(i, parent) {
			break
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

// pop removes the first.
func (h *cursors) pop() {
	s := *h
	last := len(s) - 1
	s[0] = s[last]
	s[last] = nil
	*h = s[:last]
	h.down()
}

// down moves the first to where its event belongs.
func (h cursors) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// List is a history in memory.
type List []Event

// Each calls do for each event in the order of time.
func (l List) Each(do func(*Event) error) (Defects, error) {
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(a, b Event) int { return compare(&a, &b) })
	for i := range sorted {
		if err := do(&sorted[i]); err != nil {
			return Defects{}, err
		}
	}
	return Defects{}, nil
}
