package main

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/outbox"
)

// printJSON prints a value as one line of JSON.
func (a *app) printJSON(v any) error {
	text, err := encodeJSON(v)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return append(terminal.CleanJSON(line), '\n'), nil
}

// messageJSON is a message as JSON. Where the names of "pawl enqueue
// --format=envelope" fit they are used.
type messageJSON struct {
	outbox.Info
	PayloadBytes int     `json:"payload_bytes"`
	Payload      *string `json:"payload,omitempty"` // if it is text; payload_base64 otherwise
}

func view(i *outbox.Info, withPayload bool) messageJSON {
	v := messageJSON{Info: *i, PayloadBytes: len(i.Payload)}
	if text := string(i.Payload); withPayload && utf8.ValidString(text) {
		v.Payload = &text
	}
	if !withPayload || v.Payload != nil {
		v.Info.Payload = nil
	}
	if v.Status != outbox.Ready {
		v.NextAttemptAt = time.Time{}
	}
	v.Status = statusWord(i)
	return v
}

// printAll prints a list as JSON, one line for each item.
func printAll[T, V any](a *app, list []T, view func(T) V) error {
	for _, item := range list {
		if err := a.printJSON(view(item)); err != nil {
			return err
		}
	}
	return nil
}

// statusWord is a message's state as ls filters by it.
func statusWord(i *outbox.Info) outbox.Status {
	if i.Status == outbox.Ready && i.NextAttemptAt.After(time.Now()) {
		return outbox.Scheduled
	}
	return i.Status
}

// stampKnown is stamp of a time, or nothing if it is zero.
func stampKnown(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return stamp(t)
}

// stamp is a time for people.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
