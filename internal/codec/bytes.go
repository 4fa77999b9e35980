package codec

import "bytes"

// Bytes takes a []byte for the payload itself.
type Bytes struct{}

// Encode returns a copy of body, which is a []byte.
func (Bytes) Encode(body any) ([]byte, error) { return bytes.Clone(body.([]byte)), nil }

// Decode stores a copy of a payload in the []byte that body points to.
func (Bytes) Decode(payload []byte, body any) error {
	*body.(*[]byte) = bytes.Clone(payload)
	return nil
}
