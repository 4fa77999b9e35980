package engine

import (
	"reflect"
	"slices"
	"strings"
)

// An operation whose fields are the parameters of a routine, in their order, needs no file: its
// statement calls the routine. That has the operation's name, outbox_claim, or that of the tag
// call:"outbox_claim_runs" of what the operation embeds for its result.

// call returns the statement that calls an operation's routine; empty: the engine has none of that
// name, or the operation returns rows.
func (s *Syntax) call(op Operation, objects []Object) string {
	routine := RoutineOf(op)
	if s.Call == nil || ReturnsRows(op) || !slices.ContainsFunc(objects, func(o Object) bool { return o.Kind == Routines && o.Name == routine }) {
		return ""
	}
	var arguments []string
	for _, f := range parameters(reflect.TypeOf(op), "", nil, nil) {
		arguments = append(arguments, s.arguments(&f)...)
	}
	return s.Call(mark+routine, strings.Join(arguments, ", "), isNumber(op.answer()))
}

// RoutineOf returns the name of the routine that an operation's statement calls on an engine that has
// such a routine, and no file for the operation.
func RoutineOf(op Operation) string {
	t := reflect.TypeOf(op)
	for i := range t.NumField() {
		if routine := t.Field(i).Tag.Get("call"); routine != "" {
			return routine
		}
	}
	return strings.ReplaceAll(NameOf(op), "/", "_")
}

// arguments returns a field as arguments: itself or, of a list of structs, its columns.
func (s *Syntax) arguments(f *field) (all []string) {
	if !s.Columns || f.typ.Kind() != reflect.Slice || f.typ.Elem().Kind() != reflect.Struct || isValue(f.typ.Elem()) {
		return []string{"@" + f.name}
	}
	for _, column := range parameters(f.typ.Elem(), "", nil, nil) {
		all = append(all, "@"+f.name+"."+column.name)
	}
	return all
}
