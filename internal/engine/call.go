package engine

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// call returns the statement that calls an operation's routine with its fields; empty: the engine has no
// such routine, or the operation returns rows. Of a list of structs the arguments are its columns.
func (s *Syntax) call(op Operation, objects []Object) string {
	routine := RoutineOf(op)
	if s.Call == nil || ReturnsRows(op) || !slices.ContainsFunc(objects, func(o Object) bool { return o.Kind == Routines && o.Name == routine }) {
		return ""
	}
	var arguments []string
	for _, f := range Fields(reflect.TypeOf(op)) {
		if !s.Columns || f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() != reflect.Struct || isValue(f.Type.Elem()) {
			arguments = append(arguments, "@"+f.Name)
			continue
		}
		for _, column := range Fields(f.Type.Elem()) {
			arguments = append(arguments, "@"+f.Name+"."+column.Name)
		}
	}
	return s.Call(mark+routine, strings.Join(arguments, ", "), isNumber(op.answer()))
}

// RoutineOf returns the name of the routine that an operation's statement calls where the engine has it,
// and no file of its own: that of the tag call of what the operation embeds for its result, or its own.
func RoutineOf(op Operation) string {
	return cmp.Or(reflect.TypeOf(op).Field(0).Tag.Get("call"), strings.ReplaceAll(NameOf(op), "/", "_"))
}
