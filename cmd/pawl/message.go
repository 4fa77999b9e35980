package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bravellian/pawl/cmd/pawl/internal/input"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/outbox"
)

// messageFlags say what messages are like, whether they are enqueued now or made
// of a timer or a job.
type messageFlags struct {
	Queue    string  `placeholder:"NAME" help:"Which workers see the messages. Default: default."`
	Priority int     `placeholder:"N" help:"Lower goes first, -100 to 100. Default: 0."`
	Header   headers `placeholder:"NAME=VALUE" help:"Header, may be repeated."`
}

// headers are read here because kong quotes what it cannot read, which may be a
// secret that came from the environment (D-5).
type headers map[string]string

// Decode reads one header.
func (h *headers) Decode(k *kong.DecodeContext) error {
	var text string
	if err := k.Scan.PopValueInto("header", &text); err != nil {
		return err
	}
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=VALUE")
	}
	if *h == nil {
		*h = headers{}
	}
	(*h)[name] = value
	return nil
}

func (f *messageFlags) message(topic, correlationID string) outbox.Message {
	return outbox.Message{Topic: topic, CorrelationID: correlationID, Queue: f.Queue, Priority: f.Priority, Headers: f.Header}
}

// openInput returns a file, or standard input for "" and "-", and its name.
func (a *app) openInput(file string) (io.ReadCloser, string, error) {
	if file != "" && file != "-" {
		f, err := os.Open(file)
		return f, file, err
	}
	a.sayIfTyped()
	return io.NopCloser(a.stdin), "standard input", nil
}

// openData returns what --data says, the text itself or standard input for "-", and its name.
func (a *app) openData(data string) (io.ReadCloser, string, error) {
	if data == "-" {
		return a.openInput(data)
	}
	return io.NopCloser(strings.NewReader(data)), "--data", nil
}

// readPayload gives a message the payload that --data says.
func (a *app) readPayload(m *outbox.Message, data string) error {
	r, name, err := a.openData(data)
	if err != nil {
		return err
	}
	defer r.Close()
	msgs, err := input.Read(r, input.Options{Format: input.Whole, Message: *m})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	m.Payload = msgs[0].Payload
	return nil
}

// sayIfTyped tells who sits at a terminal what the program waits for.
func (a *app) sayIfTyped() {
	if terminal.Is(a.stdin) {
		fmt.Fprintln(a.stderr, "Reading from the terminal; Ctrl-D ends the input.")
	}
}
