package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// errTooLong: a line is longer than any message can be.
var errTooLong = errors.New("too long")

// lineReader reads lines of bounded length from input of bounded length.
type lineReader struct {
	r     *bufio.Reader
	limit int   // of a line, without its end
	left  int64 // of the input
	buf   []byte
}

// next returns the next line without its end ("\n" or "\r\n"), valid until the
// next call. The last line may lack its end; after it comes io.EOF.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		if l.left -= int64(len(part)); l.left < 0 {
			return nil, fmt.Errorf("too much input for one transaction: split it, or raise --max-input")
		}
		switch {
		case len(l.buf) > l.limit+len("\r\n"):
			return nil, errTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			return l.line()
		case err != nil:
			return nil, err
		}
		return l.line()
	}
}

func (l *lineReader) line() ([]byte, error) {
	if line, ended := bytes.CutSuffix(l.buf, []byte("\n")); ended {
		line = bytes.TrimSuffix(line, []byte("\r"))
		return l.fits(line)
	}
	return l.fits(l.buf)
}

func (l *lineReader) fits(line []byte) ([]byte, error) {
	if len(line) > l.limit {
		return nil, errTooLong
	}
	return line, nil
}
