package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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
	e, err := decode(line)
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
	if m.Payload, err = e.payload(); err != nil {
		return m, err
	}
	if e.Due != "" {
		if m.Due, err = ParseWhen("due", e.Due, o.Now); err != nil {
			return m, err
		}
	}
	if e.Expires != "" {
		if m.Expires, err = ParseWhen("expires", e.Expires, o.Now); err != nil {
			return m, err
		}
	}
	if e.Key != "" {
		m.ID = MessageID(m.Topic, e.Key)
	}
	return m, nil
}

// payload is the text of a JSON string, or any other JSON as it stands.
func (e *envelope) payload() ([]byte, error) {
	switch {
	case e.Payload != nil && e.PayloadBase64 != nil:
		return nil, errors.New(`both "payload" and "payload_base64"`)
	case e.PayloadBase64 != nil:
		return e.PayloadBase64, nil
	case e.Payload == nil:
		return nil, errors.New(`no "payload"; an empty one is ""`)
	case e.Payload[0] != '"':
		return e.Payload, nil
	}
	var text string
	if err := json.Unmarshal(e.Payload, &text); err != nil {
		return nil, explain(err)
	}
	return []byte(text), nil
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

// decode is strict: a misspelt field would otherwise be lost in silence.
func decode(line []byte) (*envelope, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var e *envelope
	if err := d.Decode(&e); err != nil {
		return nil, explain(err)
	}
	if e == nil {
		return nil, errors.New("not a JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more text after the JSON object, at byte %d", d.InputOffset()+1)
	}
	return e, nil
}

// explain says what is wrong with JSON without quoting it (D-5).
func explain(err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("unreadable JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("unreadable JSON: it ends too early")
	case errors.As(err, &mismatch) && mismatch.Field == "":
		return errors.New("not a JSON object")
	case errors.As(err, &mismatch):
		return fmt.Errorf("field %q: want %s", mismatch.Field, kind(mismatch.Type.String()))
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
