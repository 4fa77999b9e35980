// Package spool keeps a slow reader from holding up who writes.
package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

const (
	// inMemory is how many bytes that were not passed on are kept in memory, beside those that
	// are being passed on.
	inMemory = 4 << 20
	// inFile is how many bytes a file of them may have. Beyond that writers wait, as at any pipe.
	inFile = 1 << 30
	// piece is how many bytes of the file are passed on at once.
	piece = 64 << 10
)

// Spool passes what is written to it on to a writer, in order and in the background: no write
// waits for the writer, unless a gigabyte waits already. What waits is kept in memory, and beyond
// a bound in a temporary file. A Spool may be used concurrently; each write stays in one piece.
type Spool struct {
	to io.Writer

	mu            sync.Mutex
	changed       sync.Cond
	memory, spare []byte
	file          *os.File // what is behind memory; nil: never needed
	read, written int64    // of the file
	closed        bool
	err           error         // of to: nothing more can be passed on
	ended         chan struct{} // closed when all is passed on, after Close
}

// New returns a Spool for a writer. It has to be closed.
func New(to io.Writer) *Spool {
	s := &Spool{to: to, ended: make(chan struct{})}
	s.changed.L = &s.mu
	go s.pass()
	return s
}

// Write returns the error of an earlier write that could not be passed on.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && !s.accept(p) {
		s.changed.Wait()
	}
	if s.err != nil {
		return 0, s.err
	}
	s.changed.Broadcast()
	return len(p), nil
}

// accept takes a write if there is room for it.
func (s *Spool) accept(p []byte) bool {
	empty := s.written == 0 && len(s.memory) == 0
	switch {
	case s.written == 0 && len(s.memory)+len(p) <= inMemory:
	case s.written+int64(len(p)) <= inFile && s.append(p):
		return true
	case !empty:
		return false
	}
	s.memory = append(s.memory, p...)
	return true
}

// append appends to the file, unless there can be none or the disk is full.
func (s *Spool) append(p []byte) bool {
	if s.file == nil {
		f, err := os.CreateTemp("", "pawl-output-")
		if err != nil {
			return false
		}
		_ = os.Remove(f.Name()) // where that works it is gone with this process
		s.file = f
	}
	if _, err := s.file.WriteAt(p, s.written); err != nil {
		return false
	}
	s.written += int64(len(p))
	return true
}

// pass passes on what comes until the spool is closed and empty.
func (s *Spool) pass() {
	defer close(s.ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		p, err := s.next()
		if err == nil && len(p) > 0 {
			s.mu.Unlock()
			_, err = s.to.Write(p)
			s.mu.Lock()
		}
		switch {
		case err != nil:
			s.err, s.memory, s.read, s.written = err, nil, 0, 0
		case len(p) > 0: // there may be more
		case s.closed:
			return
		default:
			s.changed.Wait()
			continue
		}
		s.changed.Broadcast()
	}
}

// next takes what is to be passed on now, whole lines where there are any; none: nothing waits.
func (s *Spool) next() ([]byte, error) {
	if len(s.memory) > 0 {
		p := s.memory
		s.memory, s.spare = s.spare[:0], p
		return p, nil
	}
	if s.read == s.written {
		return nil, nil
	}
	p := make([]byte, min(piece, s.written-s.read))
	if _, err := s.file.ReadAt(p, s.read); err != nil {
		return nil, err
	}
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 {
		p = p[:end+1]
	}
	if s.read += int64(len(p)); s.read == s.written {
		s.read, s.written = 0, 0
		return p, s.file.Truncate(0)
	}
	return p, nil
}

// Close waits until all is passed on or ctx ends, and returns why something was not. Nothing is
// written after it.
func (s *Spool) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	select {
	case <-s.ended:
	case <-ctx.Done():
		return errors.New("the end of the output was not read in time")
	}
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
	if s.err != nil {
		return fmt.Errorf("pass output on: %w", s.err)
	}
	return nil
}
