package spool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// reader takes nothing until it is opened.
type reader struct {
	bytes.Buffer
	open    chan struct{}
	entered chan struct{} // closed by the first write
	once    sync.Once
}

func newReader() *reader { return &reader{open: make(chan struct{}), entered: make(chan struct{})} }

func (r *reader) Write(p []byte) (int, error) {
	r.once.Do(func() { close(r.entered) })
	<-r.open
	return r.Buffer.Write(p)
}

// D-460: who writes does not wait for who reads, what waits takes bounded memory, and comes in order.
func TestNoWriterWaits(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	r := newReader()
	s := New(r)
	if _, err := s.Write([]byte("first\n")); err != nil {
		t.Fatal(err)
	}
	<-r.entered
	var want strings.Builder
	want.WriteString("first\n")
	for i := range 40 {
		line := strings.Repeat(strconv.Itoa(i%10), 1<<20) + "\n"
		want.WriteString(line)
		if n, err := io.WriteString(s, line); n != len(line) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if have := len(s.memory); have > inMemory {
			t.Fatalf("%d bytes in memory", have)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a crash would leave %v, %v", left, err)
	}
	close(r.open)
	if err := s.Close(t.Context()); err != nil || r.String() != want.String() {
		t.Errorf("%v, %d bytes of %d", err, r.Len(), want.Len())
	}
}

// Several times more than fits into memory: what was read of the file makes room for more of it.
func TestOrderThroughMemoryAndFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var to bytes.Buffer
	s := New(&to)
	var want []string
	for i := range 50_000 {
		line := strconv.Itoa(i) + strings.Repeat("x", i%300) + "\n"
		want = append(want, line)
		if _, err := io.WriteString(s, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err != nil || !slices.Equal(slices.Collect(strings.Lines(to.String())), want) {
		t.Errorf("%v: the lines are not those that were written", err)
	}
}

// Where there is no place for a file writers wait, and nothing is lost.
func TestNoPlaceForAFile(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere")
	r := newReader()
	s := New(r)
	text := strings.Repeat("y", inMemory+1)
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		for range 3 {
			_, _ = io.WriteString(s, text)
		}
	}()
	<-r.entered
	close(r.open)
	<-wrote
	if err := s.Close(t.Context()); err != nil || r.Len() != 3*len(text) {
		t.Errorf("%v, %d bytes", err, r.Len())
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// What cannot be passed on is an error of those who write later, and of the end.
func TestErrorsAreReported(t *testing.T) {
	full := errors.New("no space left")
	s := New(broken{full})
	for {
		if _, err := s.Write([]byte("x\n")); errors.Is(err, full) {
			break
		}
	}
	if err := s.Close(t.Context()); !errors.Is(err, full) {
		t.Errorf("closed with %v", err)
	}
}

// D-460: an end that is not read does not keep a process that is to stop.
func TestCloseGivesUp(t *testing.T) {
	r := newReader()
	defer close(r.open)
	s := New(r)
	_, _ = s.Write([]byte("x\n"))
	<-r.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); err == nil {
		t.Error("nothing said that the end was not read")
	}
}
