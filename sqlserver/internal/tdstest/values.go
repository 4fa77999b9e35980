package tdstest

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Values of what goes over the wire are, by their types: int64, bool, float64, string,
// []byte, time.Time, [16]byte in the order in which a uniqueidentifier is written as
// text, [Table], and nil for NULL.

// Lengths that stand for something else.
const (
	nullLength    = 0xFFFF
	nullParts     = math.MaxUint64
	unknownLength = math.MaxUint64 - 1
)

// readValue reads a value of a type.
func readValue(r *reader, t Type, fixed bool) any {
	switch {
	case t.id == nullType:
		return nil
	case fixed:
		return decode(r, t, r.bytes(t.size))
	case t.size == maxSize:
		raw, null := readParts(r)
		if null {
			return nil
		}
		return decode(r, t, raw)
	case isSized(t):
		n := r.u16()
		if n == nullLength {
			return nil
		}
		return decode(r, t, r.bytes(int(n)))
	}
	n := r.u8()
	if n == 0 {
		return nil
	}
	return decode(r, t, r.bytes(int(n)))
}

// isSized reports whether the length of a type's values has two bytes.
func isSized(t Type) bool {
	return t.id == varbinaryType || t.id == varcharType || t.id == nvarcharType || t.id == ncharType
}

// readParts reads a value that comes in parts, up to an empty one.
func readParts(r *reader) (all []byte, null bool) {
	total := r.u64()
	if total == nullParts {
		return nil, true
	}
	all = []byte{}
	for {
		n := int(r.u32())
		if n == 0 || r.err != nil {
			break
		}
		all = append(all, r.bytes(n)...)
	}
	if total != unknownLength && uint64(len(all)) != total && r.err == nil {
		r.fail(fmt.Errorf("%d bytes in parts, announced were %d", len(all), total))
	}
	return all, false
}

// decode makes a value of its bytes.
func decode(r *reader, t Type, b []byte) any {
	if r.err != nil {
		return nil
	}
	switch t.id {
	case intType:
		return integer(b)
	case bitType:
		return b[0] != 0
	case floatType:
		if len(b) == 4 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case guidType:
		return Swap([16]byte(b))
	case nvarcharType, ncharType:
		return fromUTF16(b)
	case varcharType:
		return string(b)
	case varbinaryType:
		return append([]byte{}, b...)
	case dateType, dateTime2Type, dateTimeOffsetType:
		return decodeTime(t, b)
	}
	r.fail(fmt.Errorf("values of %s are not read", t))
	return nil
}

// integer reads a number of one to eight bytes; only that of one byte has no sign.
func integer(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(b[0])
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// Swap turns a uniqueidentifier as it is sent into the order of its text, and back: the
// first three groups are sent with their lowest byte first.
func Swap(u [16]byte) [16]byte {
	return [16]byte{u[3], u[2], u[1], u[0], u[5], u[4], u[7], u[6], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]}
}

// dayOne is the first day that a date can be.
var dayOne = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)

// daySize and zoneSize are the bytes of a day and of a distance from UTC.
const (
	daySize  = 3
	zoneSize = 2
)

// decodeTime reads a time: its fraction of the day, the day, and for a datetimeoffset
// the minutes east of UTC.
func decodeTime(t Type, b []byte) time.Time {
	zone := time.UTC
	if t.id == dateTimeOffsetType {
		minutes := int(int16(binary.LittleEndian.Uint16(b[len(b)-zoneSize:])))
		zone, b = time.FixedZone("", 60*minutes), b[:len(b)-zoneSize]
	}
	days := little(b[len(b)-daySize:])
	fraction := time.Duration(little(b[:len(b)-daySize])) * unit(t.scale)
	return dayOne.AddDate(0, 0, int(days)).Add(fraction).In(zone)
}

// unit is the smallest difference between times of a scale.
func unit(scale byte) time.Duration {
	u := time.Second
	for range scale {
		u /= 10
	}
	return u
}

func little(b []byte) (n uint64) {
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return n
}

// appendLittle appends the lowest size bytes of n.
func appendLittle(b []byte, n uint64, size int) []byte {
	for i := range size {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}

// timeSize is how many bytes a fraction of a day has at a scale.
func timeSize(scale byte) int {
	switch {
	case scale <= 2:
		return 3
	case scale <= 4:
		return 4
	}
	return 5
}

// appendTime writes a time.
func appendTime(b []byte, t Type, at time.Time) []byte {
	_, offset := at.Zone()
	at = at.UTC()
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	if t.id != dateType {
		b = appendLittle(b, uint64(at.Sub(midnight)/unit(t.scale)), timeSize(t.scale))
	}
	b = appendLittle(b, uint64((midnight.Unix()-dayOne.Unix())/86_400), daySize)
	if t.id == dateTimeOffsetType {
		b = le16(b, uint16(int16(offset/60)))
	}
	return b
}

// appendValue writes a value of a type behind its length.
func appendValue(b []byte, t Type, v any) ([]byte, error) {
	if v == nil {
		return appendNull(b, t), nil
	}
	raw, err := encode(t, v)
	switch {
	case err != nil:
		return nil, err
	case t.size == maxSize:
		b = le64(b, uint64(len(raw)))
		if len(raw) > 0 {
			b = append(le32(b, uint32(len(raw))), raw...)
		}
		return le32(b, 0), nil
	case isSized(t):
		return append(le16(b, uint16(len(raw))), raw...), nil
	}
	return append(append(b, byte(len(raw))), raw...), nil
}

func appendNull(b []byte, t Type) []byte {
	switch {
	case t.size == maxSize:
		return le64(b, nullParts)
	case isSized(t):
		return le16(b, nullLength)
	}
	return append(b, 0)
}

// encode makes the bytes of a value.
func encode(t Type, v any) ([]byte, error) {
	switch v := v.(type) {
	case int:
		return encode(t, int64(v))
	case int64:
		if t.id == intType {
			return appendLittle(nil, uint64(v), t.size), nil
		}
	case bool:
		if t.id == bitType {
			return []byte{map[bool]byte{true: 1}[v]}, nil
		}
	case float64:
		if t == Float {
			return le64(nil, math.Float64bits(v)), nil
		}
	case string:
		if t.id == nvarcharType {
			return appendUTF16(nil, v), nil
		}
	case []byte:
		if t.id == varbinaryType {
			return v, nil
		}
	case [16]byte:
		if t.id == guidType {
			u := Swap(v)
			return u[:], nil
		}
	case time.Time:
		if t.id == dateTime2Type || t.id == dateTimeOffsetType || t.id == dateType {
			return appendTime(nil, t, v), nil
		}
	}
	return nil, fmt.Errorf("a %T is no value of a column of %s", v, t)
}
