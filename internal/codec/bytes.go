package codec

import "bytes"

// Bytes uses a []byte as the payload.
type Bytes struct{}

// Encode returns a copy of body, which is a []byte.
func (Bytes) Encode(body any) ([]byte, error) { return bytes.Clone(body.([]byte)), nil }

// Decode stores a copy of a payload in the []byte that body points to.
func (Bytes) Decode(payload []byte, body any) error {
	*body.(*[]byte) = bytes.Clone(payload)
	return nil
}
