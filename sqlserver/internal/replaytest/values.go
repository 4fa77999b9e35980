package replaytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// set stores what was sent as a parameter in a field of an operation.
func set(field reflect.Value, sent any) error {
	if list, ok := sent.(string); ok && field.Kind() == reflect.Slice {
		return setList(field, list)
	}
	if table, ok := sent.(tdstest.Table); ok {
		return setTable(field, table)
	}
	if sent == nil {
		field.SetZero()
		return nil
	}
	if field.Kind() == reflect.Pointer {
		inner := reflect.New(field.Type().Elem())
		if err := set(inner.Elem(), sent); err != nil {
			return err
		}
		field.Set(inner)
		return nil
	}
	switch dest := field.Addr().Interface().(type) {
	case *time.Duration:
		if n, ok := sent.(int64); ok {
			*dest = time.Duration(n) * time.Microsecond
			return nil
		}
	case *time.Time:
		switch at := sent.(type) {
		case int64: // in a table
			*dest = time.UnixMicro(at).UTC()
			return nil
		case time.Time:
			*dest = at.UTC()
			return nil
		}
	case *int:
		if n, ok := sent.(int64); ok {
			*dest = int(n)
			return nil
		}
	}
	v := reflect.ValueOf(sent)
	if v.Type() != field.Type() {
		return fmt.Errorf("a %T was sent for a %s", sent, field.Type())
	}
	field.Set(v)
	return nil
}

// setTable reads the rows of a table-valued parameter into a list.
func setTable(field reflect.Value, table tdstest.Table) error {
	elem := field.Type().Elem()
	fields := engine.Fields(elem)
	if len(fields) != len(table.Columns) {
		return fmt.Errorf("a table of %d columns was sent for a %s", len(table.Columns), elem)
	}
	all := reflect.MakeSlice(field.Type(), len(table.Rows), len(table.Rows))
	for i, row := range table.Rows {
		for k, f := range fields {
			if err := set(all.Index(i).FieldByIndex(f.Index), row[k]); err != nil {
				return fmt.Errorf("column %s: %w", f.Name, err)
			}
		}
	}
	field.Set(all)
	return nil
}

// setList reads a JSON array into a list.
func setList(field reflect.Value, text string) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var list []any
	if err := d.Decode(&list); err != nil {
		return err
	}
	elem := field.Type().Elem()
	all := reflect.MakeSlice(field.Type(), len(list), len(list))
	for i, item := range list {
		if object, ok := item.(map[string]any); ok {
			if err := setObject(all.Index(i), object); err != nil {
				return err
			}
			continue
		}
		v, err := plain(elem, item)
		if err != nil {
			return err
		}
		if err := set(all.Index(i), v); err != nil {
			return err
		}
	}
	field.Set(all)
	return nil
}

// setObject reads an object of a JSON array into a struct. What is missing is NULL.
func setObject(dest reflect.Value, object map[string]any) error {
	for _, f := range engine.Fields(dest.Type()) {
		v, err := plain(f.Type, object[f.Name])
		if err == nil {
			err = set(dest.FieldByIndex(f.Index), v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		delete(object, f.Name)
	}
	if len(object) > 0 {
		return fmt.Errorf("fields that a %s does not have: %v", dest.Type(), object)
	}
	return nil
}

// plain makes of a value in JSON what the same value is as a parameter.
func plain(t reflect.Type, v any) (any, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case json.Number:
		return v.Int64()
	case string:
		switch t {
		case reflect.TypeFor[[16]byte]():
			id, err := uuid.Parse(v)
			return [16]byte(id), err
		case reflect.TypeFor[time.Time]():
			return time.Parse("2006-01-02T15:04:05.0000000", v)
		}
	}
	return v, nil
}

// columnType is the type of a column that holds a field.
func columnType(t reflect.Type) (tdstest.Type, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[int64]():
		return tdstest.BigInt, nil
	case reflect.TypeFor[int]():
		return tdstest.Int, nil
	case reflect.TypeFor[bool]():
		return tdstest.Bit, nil
	case reflect.TypeFor[string]():
		return tdstest.NVarCharMax, nil
	case reflect.TypeFor[[]byte]():
		return tdstest.VarBinaryMax, nil
	case reflect.TypeFor[[16]byte]():
		return tdstest.UniqueIdentifier, nil
	case reflect.TypeFor[time.Time]():
		return tdstest.DateTime2, nil
	}
	return tdstest.Type{}, fmt.Errorf("no type of a column for a %s", t)
}

// columnValue is what a column holds of a field.
func columnValue(field reflect.Value) any {
	switch field.Kind() {
	case reflect.Pointer:
		if field.IsNil() {
			return nil
		}
		return columnValue(field.Elem())
	case reflect.Slice:
		if field.IsNil() {
			return nil
		}
	}
	return field.Interface()
}
