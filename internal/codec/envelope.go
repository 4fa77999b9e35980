package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/limits"
)

// An envelope begins with magic, its kind and its version. No JSON, no UTF-8 text and no
// protobuf message begins with 0xff. docs/payloads.md has the format.
const (
	magic     = "\xffpawl"
	sealed    = 'S'
	offloaded = 'O'
	version   = 1

	maxKeyID  = 64
	maxTopic  = 4 * limits.Topic // bytes
	saltBytes = 24
	tagBytes  = 16
)

// is reports whether a payload is an envelope of the kind, in any version.
func is(kind byte, payload []byte) bool {
	return strings.HasPrefix(string(payload[:min(len(payload), len(magic)+1)]), magic+string(kind))
}

// errDamaged is the error of an envelope that ends too early or has fields out of range.
var errDamaged = errors.New("damaged")

// open returns what follows the version, and ok if the payload is an envelope of the kind.
func open(kind byte, payload []byte) (rest fields, ok bool, err error) {
	if !is(kind, payload) {
		return fields{}, false, nil
	}
	rest = fields{b: payload[len(magic)+1:]}
	switch v := rest.bytes(1); {
	case rest.short:
		return rest, true, errDamaged
	case v[0] != version:
		return rest, true, fmt.Errorf("of version %d, and this program knows version %d", v[0], version)
	}
	return rest, true, nil
}

// fields reads fields of an envelope.
type fields struct {
	b     []byte
	short bool // it ended within one
}

func (f *fields) bytes(n int) []byte {
	if f.short = f.short || n > len(f.b); f.short {
		return nil
	}
	b := f.b[:n:n]
	f.b = f.b[n:]
	return b
}

// number returns a big-endian number of n bytes.
func (f *fields) number(n int) (v uint64) {
	for _, b := range f.bytes(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

// letter is a sealed payload.
type letter struct {
	keyID string
	topic string   // that it is for; "" for any
	id    [16]byte // of the message that it is for; zero for any of the topic
	salt  []byte
	head  []byte // all of these, which is authenticated
	box   []byte // ciphertext and tag
}

// head returns the envelope up to the ciphertext, but for the salt.
func head(keyID, topic string, id [16]byte) []byte {
	b := append([]byte(magic), sealed, version, byte(len(keyID)))
	b = append(b, keyID...)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(topic))), topic...)
	if id == [16]byte{} {
		return append(b, 0)
	}
	return append(append(b, 1), id[:]...)
}

// parseSealed reads a sealed payload; ok is false for others.
func parseSealed(payload []byte) (l letter, ok bool, err error) {
	f, ok, err := open(sealed, payload)
	if !ok || err != nil {
		return letter{}, ok, err
	}
	l.keyID = string(f.bytes(int(f.number(1))))
	topic := f.number(2)
	l.topic = string(f.bytes(int(topic)))
	bound := f.number(1)
	if bound == 1 {
		copy(l.id[:], f.bytes(len(l.id)))
	}
	l.salt = f.bytes(saltBytes)
	l.head, l.box = payload[:len(payload)-len(f.b)], f.b
	if f.short || len(l.box) < tagBytes || !validKeyID(l.keyID) || topic > maxTopic || bound > 1 || bound == 1 && l.id == [16]byte{} {
		return letter{}, true, errDamaged
	}
	return l, true, nil
}

// validKeyID reports whether a key id can be shown anywhere: 1 to 64 printable ASCII characters
// without spaces.
func validKeyID(id string) bool {
	return id != "" && len(id) <= maxKeyID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// reference is what is stored in place of a payload that was offloaded.
type reference struct {
	key  [16]byte
	size uint64
	hash [32]byte // SHA-256
}

func (r *reference) append(b []byte) []byte {
	b = append(append(append(b, magic...), offloaded, version), r.key[:]...)
	return append(binary.BigEndian.AppendUint64(b, r.size), r.hash[:]...)
}

func (r *reference) name() string { return uuid.UUID(r.key).String() }

// parseReference reads a reference to a blob; ok is false for other payloads.
func parseReference(payload []byte) (r reference, ok bool, err error) {
	f, ok, err := open(offloaded, payload)
	if !ok || err != nil {
		return reference{}, ok, err
	}
	copy(r.key[:], f.bytes(len(r.key)))
	r.size = f.number(8)
	copy(r.hash[:], f.bytes(len(r.hash)))
	if f.short || len(f.b) > 0 {
		return reference{}, true, errDamaged
	}
	return r, true, nil
}

// Describe returns what people are shown in place of the bytes of a payload that is sealed or
// offloaded, and ok if it is.
func Describe(payload []byte) (text string, ok bool) {
	if l, is, err := parseSealed(payload); is && err == nil {
		return fmt.Sprintf("sealed with key %s, %d bytes", l.keyID, len(payload)), true
	}
	if r, is, err := parseReference(payload); is && err == nil {
		return fmt.Sprintf("offloaded, %d bytes, blob %s", r.size, r.name()), true
	}
	return "", false
}
