package input

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
)

// lineTooLong is the error of a line that no message has, of which the beginning was read: it names the field
// that takes most of it.
func (o *Options) lineTooLong(beginning []byte) error {
	if o.Format != Envelope {
		return payloadTooLong(o.MaxPayload)
	}
	switch field := longest(beginning); field {
	case "topic":
		return engine.TooLong(field, limits.Topic, "characters")
	case "queue":
		return engine.TooLong(field, limits.Queue, "characters")
	case "correlation_id":
		return engine.TooLong("correlation id", limits.CorrelationID, "characters")
	case "ordering_key":
		return engine.TooLong("ordering key", limits.OrderingKey, "characters")
	case "headers":
		return engine.TooLong(field, limits.HeaderBytes, "bytes")
	case "payload", "payload_base64":
		return payloadTooLong(o.MaxPayload)
	case "key", "due", "expires", "priority":
		return engine.Invalid(field, "too long")
	}
	return errors.New("too long for a message") // what else it has may be part of a payload
}

// longest is the field that takes most of the beginning of a JSON object.
func longest(beginning []byte) (found string) {
	d := json.NewDecoder(bytes.NewReader(beginning))
	_, err := d.Token()
	for most := int64(-1); err == nil; {
		var name any
		if name, err = d.Token(); err != nil {
			break
		}
		from, end := d.InputOffset(), int64(len(beginning))
		var value json.RawMessage
		if err = d.Decode(&value); err == nil {
			end = d.InputOffset()
		}
		if text, ok := name.(string); ok && end-from > most {
			found, most = text, end-from
		}
	}
	return found
}
