package input

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/bravellian/pawl/outbox"
)

// Batches hold a thousand messages or four megabytes, whatever the input's length: no more is read than one of them and
// what is buffered.
func TestBatchesAreBounded(t *testing.T) {
	var sizes []int
	read := strings.NewReader(strings.Repeat("x\n", 2500) + strings.Repeat(strings.Repeat("y", 1<<20)+"\n", 9))
	whole := read.Len()
	err := Batches(read, Options{Message: outbox.Message{Topic: "t"}}, func(msgs []outbox.Message, line int) error {
		sizes = append(sizes, len(msgs))
		if len(sizes) == 1 && (line != 1000 || whole-read.Len() > 80<<10) {
			t.Errorf("line %d, and %d bytes were read", line, whole-read.Len())
		}
		return nil
	})
	if err != nil || len(sizes) != 5 || sizes[0] != 1000 || sizes[1] != 1000 || sizes[2] != 503 && sizes[2] != 504 {
		t.Errorf("%v: %v", sizes, err)
	}
}

// A batch that cannot be stored ends it, and one is checked before it is stored.
func TestBatchesEndAtAMistake(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	err := Batches(bytes.NewReader(bytes.Repeat([]byte("x\n"), 3000)), Options{Message: outbox.Message{Topic: "t"}}, func([]outbox.Message, int) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls: %v", calls, err)
	}
	err = Batches(strings.NewReader("a\nbbbb\n"), Options{MaxPayload: 2, Message: outbox.Message{Topic: "t"}}, func([]outbox.Message, int) error {
		t.Error("a batch with a mistake is stored")
		return nil
	})
	var line *LineError
	if !errors.As(err, &line) || line.Line != 2 {
		t.Errorf("%v", err)
	}
}
