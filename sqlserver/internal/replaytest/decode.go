package replaytest

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// Asked is an operation that a request asks for.
type Asked struct {
	Statement *engine.Statement
	// Operation is that of package op, also where the engine has one of its own by the
	// same name.
	Operation engine.Operation
}

// Decode reads the operations out of a request. texts are the statements as the engine
// sends them.
func Decode(texts map[string]*engine.Statement, r *tdstest.Request) (all []Asked, err error) {
	found, err := statements(r)
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		a, err := decode(texts, one)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func decode(texts map[string]*engine.Statement, one sent) (a Asked, err error) {
	if a.Statement = texts[one.text]; a.Statement == nil {
		return a, fmt.Errorf("a statement of no operation: %s", one.text)
	}
	o, err := operation(a.Statement.Name)
	if err != nil {
		return a, err
	}
	if a.Statement.Parameters() != len(one.args) {
		return a, fmt.Errorf("%s: %d arguments for %d parameters", a.Statement.Name, len(one.args), a.Statement.Parameters())
	}
	for i, arg := range one.args {
		name, _ := a.Statement.Parameter(i + 1)
		if err := assign(o, name, arg); err != nil {
			return a, fmt.Errorf("%s: @%s: %w", a.Statement.Name, name, err)
		}
	}
	reflect.ValueOf(&a.Operation).Elem().Set(o)
	return a, nil
}

// operation returns the operation of a name, without values.
func operation(name string) (reflect.Value, error) {
	for _, o := range op.All() {
		if engine.NameOf(o) == name {
			return reflect.New(reflect.TypeOf(o)).Elem(), nil
		}
	}
	return reflect.Value{}, fmt.Errorf("no operation %s", name)
}

// assign sets the field of an operation that a parameter is named after. Parameters that
// only the engine has are left out.
func assign(o reflect.Value, name string, arg any) error {
	for _, f := range engine.Fields(o.Type()) {
		if f.Name == name {
			return set(o.FieldByIndex(f.Index), arg)
		}
	}
	if enginesOwn[name] {
		return nil
	}
	return errors.New("the operation does not have it")
}

// enginesOwn are parameters that no operation has: whether rows are read by version.
var enginesOwn = map[string]bool{"versioned": true}

// Columns are the columns of a statement's answer; one for a number, and for what answers
// how many rows it changed.
func Columns(s *engine.Statement) (all []tdstest.Column, err error) {
	row := s.Row()
	if row == nil || row.Kind() != reflect.Struct {
		return []tdstest.Column{{Name: "n", Type: tdstest.BigInt}}, nil
	}
	fields := columnFields(row)
	for i, name := range s.Columns() {
		t, err := columnType(fields[i].Type)
		if err != nil {
			return nil, fmt.Errorf("%s: column %s: %w", s.Name, name, err)
		}
		all = append(all, tdstest.Column{Name: name, Type: t})
	}
	return all, nil
}

// Dest are pointers to the fields of a row that are columns.
func Dest(row reflect.Value) (all []any) {
	for _, f := range columnFields(row.Type()) {
		all = append(all, row.FieldByIndex(f.Index).Addr().Interface())
	}
	return all
}

// Values are what the columns hold of a row.
func Values(row reflect.Value) (values []any) {
	for _, f := range columnFields(row.Type()) {
		values = append(values, columnValue(row.FieldByIndex(f.Index)))
	}
	return values
}

// columnFields are the fields of a row that are columns, those of embedded structs included.
func columnFields(row reflect.Type) (all []reflect.StructField) {
	for _, f := range reflect.VisibleFields(row) {
		if !f.Anonymous && f.IsExported() {
			all = append(all, f)
		}
	}
	return all
}
