package tdstest

import (
	"encoding/binary"
	"errors"
	"unicode/utf16"
)

// errShort says that a message ends before what it has to contain.
var errShort = errors.New("the message is too short")

// reader reads the parts of a message. After the first failure it returns zeros.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) rest() int { return len(r.b) - r.at }

// bytes returns the next n bytes.
func (r *reader) bytes(n int) []byte {
	if n < 0 || n > r.rest() {
		r.fail(errShort)
		r.at = len(r.b)
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// sized returns the next n bytes, or n zeros where they are not there.
func (r *reader) sized(n int) []byte {
	if b := r.bytes(n); b != nil {
		return b
	}
	return make([]byte, n)
}

func (r *reader) u8() byte    { return r.sized(1)[0] }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.sized(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.sized(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.sized(8)) }

// text reads n characters of UTF-16.
func (r *reader) text(n int) string { return fromUTF16(r.bytes(2 * n)) }

// shortText reads a text behind its length in one byte.
func (r *reader) shortText() string { return r.text(int(r.u8())) }

func fromUTF16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func appendUTF16(b []byte, s string) []byte {
	for _, u := range utf16.Encode([]rune(s)) {
		b = le16(b, u)
	}
	return b
}

func utf16Length(s string) int { return len(utf16.Encode([]rune(s))) }

// appendShortText appends a text behind its length in one byte, appendText one behind its length in two.
func appendShortText(b []byte, s string) []byte {
	return appendUTF16(append(b, byte(utf16Length(s))), s)
}

func appendText(b []byte, s string) []byte {
	return appendUTF16(le16(b, uint16(utf16Length(s))), s)
}

func le16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }
func le32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func le64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
