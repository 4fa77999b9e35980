package sqlserver

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// row is a row of a result. A column that cannot be read leaves the others, and the rows
// after it, readable (D-9).
type row struct {
	names  []string
	values []any
	into   []any
}

// newRow reads which columns the result has.
func newRow(rows *sql.Rows) (*row, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	r := &row{names: names, values: make([]any, len(names)), into: make([]any, len(names))}
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r, nil
}

// Scan copies the columns that can be converted into dest.
func (r *row) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("sqlserver: scan %d columns into %d", len(r.values), len(dest))
	}
	var faults error
	for i, d := range dest {
		if err := assign(d, r.values[i]); err != nil {
			faults = errors.Join(faults, fmt.Errorf("column %s: %w", r.names[i], err))
		}
	}
	return faults
}

// assign stores a value of the driver's behind a pointer.
func assign(dest, v any) error {
	if d := reflect.ValueOf(dest).Elem(); d.Kind() == reflect.Pointer {
		return assignPointer(d, v)
	}
	switch d := dest.(type) {
	case *int64:
		return number(v, func(n int64) { *d = n })
	case *int:
		return number(v, func(n int64) { *d = int(n) })
	case *bool:
		if b, ok := v.(bool); ok {
			*d = b
			return nil
		}
		return number(v, func(n int64) { *d = n != 0 })
	case *string:
		return into(d, v)
	case *[]byte:
		if v == nil {
			*d = nil
			return nil
		}
		return into(d, v)
	case *time.Time:
		if err := into(d, v); err != nil {
			return err
		}
		*d = inUTC(*d)
		return nil
	case *[16]byte:
		return assignID(d, v)
	}
	return fmt.Errorf("cannot be read into a %T", dest)
}

// assignPointer stores nil for null.
func assignPointer(dest reflect.Value, v any) error {
	if v == nil {
		dest.SetZero()
		return nil
	}
	inner := reflect.New(dest.Type().Elem())
	if err := assign(inner.Interface(), v); err != nil {
		return err
	}
	dest.Set(inner)
	return nil
}

func assignID(dest *[16]byte, v any) (err error) {
	var raw []byte
	if err := into(&raw, v); err != nil {
		return err
	}
	*dest, err = fromWire(raw)
	return err
}

func number(v any, set func(int64)) error {
	switch n := v.(type) {
	case int64:
		set(n)
	case bool:
		set(map[bool]int64{true: 1}[n])
	default:
		return mismatch(v, "a number")
	}
	return nil
}

func into[T any](dest *T, v any) error {
	is, ok := v.(T)
	if !ok {
		return mismatch(v, fmt.Sprintf("a %T", *dest))
	}
	*dest = is
	return nil
}

// mismatch names types only: values may be payloads (D-5).
func mismatch(v any, want string) error {
	if v == nil {
		return errors.New("null")
	}
	return fmt.Errorf("%T is not %s", v, want)
}

// inUTC returns a time without a zone, which the driver puts into the connection string's
// zone, as UTC.
func inUTC(t time.Time) time.Time {
	if t.Location() == time.UTC {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
