package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
)

// envelope is a message as a line of JSON. What it leaves out comes from the
// command line.
type envelope struct {
	Topic         *string           `json:"topic"`
	Payload       json.RawMessage   `json:"payload"`
	PayloadBase64 []byte            `json:"payload_base64"`
	Key           string            `json:"key"`
	Due           string            `json:"due"`
	Expires       string            `json:"expires"`
	OrderingKey   *string           `json:"ordering_key"`
	CorrelationID *string           `json:"correlation_id"`
	Headers       map[string]string `json:"headers"`
	Queue         *string           `json:"queue"`
	Priority      *int              `json:"priority"`
}

func (o *Options) envelope(line []byte) (outbox.Message, error) {
	var e envelope
	err := Decode(line, &e)
	if err != nil {
		return outbox.Message{}, err
	}
	m := o.Message
	m.Headers = merge(o.Message.Headers, e.Headers)
	override(&m.Topic, e.Topic)
	override(&m.OrderingKey, e.OrderingKey)
	override(&m.CorrelationID, e.CorrelationID)
	override(&m.Queue, e.Queue)
	override(&m.Priority, e.Priority)
	if e.Payload == nil && e.PayloadBase64 == nil {
		return m, errors.New(`no "payload"; an empty one is ""`)
	}
	if m.Payload, err = Payload(e.Payload, e.PayloadBase64); err != nil {
		return m, err
	}
	if e.Due != "" {
		if m.Due, err = ParseWhen(e.Due, o.Now, 1); err != nil {
			return m, fmt.Errorf("due %w", err)
		}
	}
	if e.Expires != "" {
		if m.Expires, err = ParseWhen(e.Expires, o.Now, 1); err != nil {
			return m, fmt.Errorf("expires %w", err)
		}
	}
	if e.Key != "" {
		m.ID = MessageID(m.Topic, e.Key)
	}
	return m, nil
}

// Payload is the text of a JSON string, or any other JSON as it stands; or what was given in base64.
func Payload(text json.RawMessage, base64 []byte) ([]byte, error) {
	switch {
	case text != nil && base64 != nil:
		return nil, errors.New(`both "payload" and "payload_base64"`)
	case text == nil:
		return base64, nil
	case text[0] != '"':
		return text, nil
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, explain(err)
	}
	return []byte(s), nil
}

func override[T any](field *T, v *T) {
	if v != nil {
		*field = *v
	}
}

func merge(base, own map[string]string) map[string]string {
	if len(own) == 0 {
		return base
	}
	all := make(map[string]string, len(base)+len(own))
	for _, headers := range []map[string]string{base, own} {
		for k, v := range headers {
			all[k] = v
		}
	}
	return all
}

// Decode reads a JSON object. It is strict: a misspelt field would otherwise be lost in silence.
func Decode(text []byte, object any) error {
	if !utf8.Valid(text) {
		return errors.New("not valid UTF-8")
	}
	if string(bytes.TrimSpace(text)) == "null" {
		return errors.New("not a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(object); err != nil {
		return explain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more text after the JSON object, at byte %d", d.InputOffset()+1)
	}
	return nil
}

// explain says what is wrong with JSON without quoting it (D-5).
func explain(err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.Is(err, pawl.ErrInvalid): // of a word that is none of a field's
		return err
	case errors.As(err, &syntax):
		return fmt.Errorf("unreadable JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("unreadable JSON: it ends too early")
	case errors.As(err, &mismatch) && mismatch.Field == "":
		return errors.New("not a JSON object")
	case errors.As(err, &mismatch):
		return fmt.Errorf("field %q: want %s", mismatch.Field[strings.LastIndex(mismatch.Field, ".")+1:], kind(mismatch.Type.String()))
	}
	if name, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
		return fmt.Errorf("unknown field %s", name)
	}
	return errors.New("unreadable JSON")
}

// kind names a Go type as people who write JSON know it.
func kind(goType string) string {
	switch {
	case goType == "int":
		return "a whole number"
	case strings.HasPrefix(goType, "map"):
		return "an object of strings"
	}
	return "a string"
}
