package sqlserver

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/bravellian/pawl/internal/engine"
)

// arguments converts every argument, in place, for the driver: types of its own for
// uniqueidentifiers, microseconds for durations, UTC for times, tables for lists
// with payloads and JSON for others. Texts are nvarchar(max): the server would keep a plan
// for every length.
func (db *DB) arguments(args []any) ([]any, error) {
	for i, a := range args {
		v, err := db.argument(a)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return args, nil
}

func (db *DB) argument(a any) (any, error) {
	if v := reflect.ValueOf(a); v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return null(v.Type().Elem())
		}
		return db.argument(v.Elem().Interface())
	}
	switch a := a.(type) {
	case string:
		return mssql.NVarCharMax(a), nil
	case [16]byte:
		return mssql.UniqueIdentifier(a), nil
	case time.Duration:
		return a.Microseconds(), nil
	case time.Time:
		return a.UTC(), nil
	case []byte:
		return a, nil
	}
	if v := reflect.ValueOf(a); v.Kind() == reflect.Slice {
		return db.listArgument(v)
	}
	return a, nil
}

// null returns a null of a type: for nil the driver sends one of no type, which some servers
// do not know and SQL Server converts as if it were a text.
func null(t reflect.Type) (any, error) {
	switch {
	case t == reflect.TypeFor[[16]byte](): // for mssql.NullUniqueIdentifier the driver sends sixteen bytes after a length of none
		return sql.NullString{}, nil
	case t == reflect.TypeFor[time.Time]():
		return sql.NullTime{}, nil
	case t.Kind() == reflect.String:
		return sql.NullString{}, nil
	case t.Kind() == reflect.Bool:
		return sql.NullBool{}, nil
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return sql.NullInt64{}, nil
	case t == reflect.TypeFor[[]byte]():
		return []byte(nil), nil
	}
	return nil, fmt.Errorf("a null of %v cannot be sent", t)
}

// listArgument sends a list as a table or as JSON.
func (db *DB) listArgument(v reflect.Value) (any, error) {
	if name, ok := tableTypes()[v.Type()]; ok {
		return db.table(name, v), nil
	}
	if v.IsNil() && v.Type().Elem().Kind() != reflect.Struct {
		return sql.NullString{}, nil
	}
	return list(v)
}

// table sends a list as a table of one of pawl's types. Times are microseconds since 1970.
func (db *DB) table(name string, list reflect.Value) mssql.TVP {
	fields := engine.Fields(list.Type().Elem())
	columns := make([]reflect.StructField, len(fields))
	for i, f := range fields {
		columns[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: columnType(f.Type)}
	}
	rows := reflect.MakeSlice(reflect.SliceOf(reflect.StructOf(columns)), list.Len(), list.Len())
	for i := range list.Len() {
		for k, f := range fields {
			setColumn(rows.Index(i).Field(k), list.Index(i).FieldByIndex(f.Index))
		}
	}
	return mssql.TVP{TypeName: db.opts.Schema + "." + db.opts.Prefix + name, Value: rows.Interface()}
}

// columnType is the type that the driver knows for a column of a table.
func columnType(t reflect.Type) reflect.Type {
	switch t {
	case reflect.TypeFor[[16]byte]():
		return reflect.TypeFor[mssql.UniqueIdentifier]()
	case reflect.TypeFor[*time.Time]():
		return reflect.TypeFor[*int64]()
	}
	return t
}

func setColumn(dest, v reflect.Value) {
	switch a := v.Interface().(type) {
	case [16]byte:
		dest.Set(reflect.ValueOf(mssql.UniqueIdentifier(a)))
	case *time.Time:
		if a != nil {
			micros := a.UnixMicro()
			dest.Set(reflect.ValueOf(&micros))
		}
	case []byte:
		if a == nil { // null, for the driver
			a = []byte{}
		}
		dest.SetBytes(a)
	default:
		dest.Set(v)
	}
}

// list writes a list as a JSON array: of numbers, of texts, or of objects with the names
// of the fields in snake case.
func list(v reflect.Value) (mssql.NVarCharMax, error) {
	var b bytes.Buffer
	elem := v.Type().Elem()
	var fields []engine.Field
	if elem.Kind() == reflect.Struct {
		fields = engine.Fields(elem)
	}
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if fields == nil {
			if err := writeJSON(&b, v.Index(i).Interface()); err != nil {
				return "", err
			}
			continue
		}
		if err := writeObject(&b, v.Index(i), fields); err != nil {
			return "", err
		}
	}
	b.WriteByte(']')
	return mssql.NVarCharMax(b.String()), nil
}

// writeObject writes a struct. What is null is left out.
func writeObject(b *bytes.Buffer, v reflect.Value, fields []engine.Field) error {
	first := true
	b.WriteByte('{')
	for _, f := range fields {
		field := v.FieldByIndex(f.Index)
		if field.Kind() == reflect.Pointer {
			if field.IsNil() {
				continue
			}
			field = field.Elem()
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(`"` + f.Name + `":`)
		if err := writeJSON(b, field.Interface()); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// timeText is how a time is written in JSON.
const timeText = "2006-01-02T15:04:05.0000000"

func writeJSON(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case int:
		b.WriteString(strconv.Itoa(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case time.Duration:
		b.WriteString(strconv.FormatInt(v.Microseconds(), 10))
	case time.Time:
		b.WriteString(`"` + v.UTC().Format(timeText) + `"`)
	case [16]byte:
		b.WriteString(`"` + uuidText(v) + `"`)
	case string:
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b.Write(text)
	default:
		return fmt.Errorf("a list of %T cannot be sent", v)
	}
	return nil
}

// uuidText is how a UUID is written.
func uuidText(id [16]byte) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// fromWire is a uniqueidentifier as the server sends it: its first three groups have their
// lowest byte first.
func fromWire(b []byte) (id [16]byte, err error) {
	if len(b) != len(id) {
		return id, fmt.Errorf("a uniqueidentifier of %d bytes", len(b))
	}
	copy(id[:], b)
	id[0], id[1], id[2], id[3] = b[3], b[2], b[1], b[0]
	id[4], id[5] = b[5], b[4]
	id[6], id[7] = b[7], b[6]
	return id, nil
}
