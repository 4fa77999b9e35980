package tdstest

import "fmt"

// Type is a data type, as TDS describes it. Types are compared with ==.
type Type struct {
	id    byte
	size  int // in bytes
	scale byte
}

// Kinds of types.
const (
	nullType           = 0x1F
	guidType           = 0x24
	intType            = 0x26
	bitType            = 0x68
	decimalType        = 0x6A
	numericType        = 0x6C
	floatType          = 0x6D
	dateTimeType       = 0x6F
	dateType           = 0x28
	timeType           = 0x29
	dateTime2Type      = 0x2A
	dateTimeOffsetType = 0x2B
	varbinaryType      = 0xA5
	varcharType        = 0xA7
	nvarcharType       = 0xE7
	ncharType          = 0xEF
	tableType          = 0xF3
)

// maxSize is the size of a type that is declared with (max): its values come in parts.
const maxSize = 0xFFFF

// Types that pawl sends and reads. Untyped is what a driver sends for nil without a type.
var (
	Untyped          = Type{id: nullType}
	TinyInt          = Type{id: intType, size: 1}
	SmallInt         = Type{id: intType, size: 2}
	Int              = Type{id: intType, size: 4}
	BigInt           = Type{id: intType, size: 8}
	Bit              = Type{id: bitType, size: 1}
	Real             = Type{id: floatType, size: 4}
	Float            = Type{id: floatType, size: 8}
	UniqueIdentifier = Type{id: guidType, size: 16}
	Date             = Type{id: dateType}
	DateTime2        = Type{id: dateTime2Type, scale: 7}
	DateTimeOffset   = Type{id: dateTimeOffsetType, scale: 7}
	NVarCharMax      = Type{id: nvarcharType, size: maxSize}
	VarBinaryMax     = Type{id: varbinaryType, size: maxSize}
	TableValued      = Type{id: tableType}
)

// NVarChar is a text of at most n characters.
func NVarChar(n int) Type { return Type{id: nvarcharType, size: 2 * n} }

// VarBinary are at most n bytes.
func VarBinary(n int) Type { return Type{id: varbinaryType, size: n} }

// String is how T-SQL declares the type.
func (t Type) String() string {
	switch t.id {
	case nullType:
		return "null"
	case intType:
		return map[int]string{1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"}[t.size]
	case floatType:
		return map[int]string{4: "real", 8: "float"}[t.size]
	case varbinaryType, varcharType, nvarcharType, ncharType:
		return t.sizedName()
	case timeType, dateTime2Type, dateTimeOffsetType:
		return fmt.Sprintf("%s(%d)", typeNames[t.id], t.scale)
	}
	if name, ok := typeNames[t.id]; ok {
		return name
	}
	return fmt.Sprintf("type %#x", t.id)
}

var typeNames = map[byte]string{
	guidType: "uniqueidentifier", bitType: "bit", dateType: "date", dateTimeType: "datetime", timeType: "time", tableType: "table",
	dateTime2Type: "datetime2", dateTimeOffsetType: "datetimeoffset",
	varbinaryType: "varbinary", varcharType: "varchar", nvarcharType: "nvarchar", ncharType: "nchar",
}

func (t Type) sizedName() string {
	n := t.size
	if t.id == nvarcharType || t.id == ncharType {
		n /= 2
	}
	if t.size == maxSize {
		return typeNames[t.id] + "(max)"
	}
	return fmt.Sprintf("%s(%d)", typeNames[t.id], n)
}

// fixedTypes are those without a length, which cannot be null, and what they are with one.
var fixedTypes = map[byte]Type{
	0x30: TinyInt, 0x32: Bit, 0x34: SmallInt, 0x38: Int, 0x3B: Real, 0x3E: Float, 0x7F: BigInt,
}

// collation is the one that the server's texts have: Latin1_General, case insensitive.
var collation = []byte{0x09, 0x04, 0xD0, 0x00, 0x34}

// readType reads the description of a type; fixed reports that its values have no length.
func readType(r *reader) (t Type, fixed bool) {
	t.id = r.u8()
	if known, ok := fixedTypes[t.id]; ok {
		return known, true
	}
	switch t.id {
	case nullType, dateType, tableType:
	case guidType, intType, bitType, floatType, dateTimeType:
		t.size = int(r.u8())
	case decimalType, numericType:
		t.size, _, t.scale = int(r.u8()), r.u8(), r.u8()
	case timeType, dateTime2Type, dateTimeOffsetType:
		t.scale = r.u8()
	case varbinaryType:
		t.size = int(r.u16())
	case varcharType, nvarcharType, ncharType:
		t.size = int(r.u16())
		r.bytes(len(collation))
	default:
		r.fail(fmt.Errorf("type %#x is not known", t.id))
	}
	return t, t.id == nullType
}

// appendType describes a type.
func appendType(b []byte, t Type) []byte {
	b = append(b, t.id)
	switch t.id {
	case guidType, intType, bitType, floatType, dateTimeType:
		return append(b, byte(t.size))
	case timeType, dateTime2Type, dateTimeOffsetType:
		return append(b, t.scale)
	case varbinaryType:
		return le16(b, uint16(t.size))
	case varcharType, nvarcharType, ncharType:
		return append(le16(b, uint16(t.size)), collation...)
	}
	return b
}
