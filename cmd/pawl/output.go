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

// messageView is a message as JSON. Where the names of "pawl enqueue
// --format=envelope" fit they are used.
type messageView struct {
	ID            int64             `json:"id"`
	MessageID     outbox.MessageID  `json:"message_id"`
	Topic         string            `json:"topic"`
	Status        string            `json:"status"`
	Queue         string            `json:"queue"`
	Priority      int               `json:"priority"`
	CorrelationID string            `json:"correlation_id,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	CreatedAt     time.Time         `json:"created_at"`
	Due           *time.Time        `json:"due,omitempty"`
	RetryCount    int               `json:"retry_count"`
	Redrives      int               `json:"redrives,omitempty"`
	NextAttemptAt *time.Time        `json:"next_attempt_at,omitempty"`
	LockedUntil   *time.Time        `json:"locked_until,omitempty"`
	OwnerToken    string            `json:"owner_token,omitempty"`
	ProcessedAt   *time.Time        `json:"processed_at,omitempty"`
	ProcessedBy   string            `json:"processed_by,omitempty"`
	LastError     string            `json:"last_error,omitempty"`
	Unreadable    string            `json:"unreadable,omitempty"`
	PayloadBytes  int               `json:"payload_bytes"`
	Payload       *string           `json:"payload,omitempty"`
	PayloadBase64 []byte            `json:"payload_base64,omitempty"`
}

func view(i *outbox.Info, withPayload bool) messageView {
	v := messageView{
		ID: int64(i.Position), MessageID: i.ID, Topic: i.Topic, Status: statusWord(i), Queue: i.Queue, Priority: i.Priority,
		CorrelationID: i.CorrelationID, Headers: i.Headers, CreatedAt: i.CreatedAt, RetryCount: i.RetryCount, Redrives: i.Redrives,
		LockedUntil: i.LockedUntil, ProcessedAt: i.ProcessedAt, ProcessedBy: i.ProcessedBy, LastError: i.LastError, Unreadable: i.Unreadable, PayloadBytes: len(i.Payload),
	}
	if !i.Due.IsZero() {
		v.Due = &i.Due
	}
	if i.Status == outbox.Ready {
		v.NextAttemptAt = &i.NextAttemptAt
	}
	if i.OwnerToken != nil {
		v.OwnerToken = i.OwnerToken.String()
	}
	switch {
	case !withPayload:
	case utf8.Valid(i.Payload):
		text := string(i.Payload)
		v.Payload = &text
	default:
		v.PayloadBase64 = i.Payload
	}
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

// statusWord is a message's state in one of the words that ls filters by.
func statusWord(i *outbox.Info) string {
	if i.Status == outbox.Ready && i.NextAttemptAt.After(time.Now()) {
		return statusName(outbox.Scheduled)
	}
	return statusName(i.Status)
}

// statusName returns the word for a state that the command line uses.
func statusName(s outbox.Status) string {
	if s == outbox.InProgress {
		return "running"
	}
	return s.String()
}

// known is a time as an optional field of JSON: nil if it is zero.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
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
