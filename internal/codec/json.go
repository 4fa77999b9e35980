// Package codec turns the bodies of messages into payloads and back.
package codec

import (
	"encoding/json"
	"errors"
	"fmt"
)

// JSON encodes and decodes bodies as JSON. Its errors do not quote the payload.
type JSON struct{}

// Encode returns body as JSON.
func (JSON) Encode(body any) ([]byte, error) { return json.Marshal(body) }

// Decode reads a payload into the value that body points to.
func (JSON) Decode(payload []byte, body any) error { return redact(json.Unmarshal(payload, body)) }

// redact removes the payload, which encoding/json quotes, from an error (D-5).
func redact(err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return fmt.Errorf("invalid JSON at byte %d", syntax.Offset)
	case errors.As(err, &mismatch):
		return fmt.Errorf("JSON field %q at byte %d does not fit %v", mismatch.Field, mismatch.Offset, mismatch.Type)
	}
	return errors.New("JSON does not fit")
}
