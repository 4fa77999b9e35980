package engine

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ValidText returns a text that every engine can store in a database of UTF-8: valid, and without
// NUL.
func ValidText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Texts that others chose and pawl has to store whatever they are, such as errors of handlers and
// names of hosts, are fields of operations with the tag `text:"any"`. Where a database's encoding
// lacks one of their characters, all that are not ASCII are written as in JSON: \u20ac.

// PlainCalls replaces such fields of calls, and reports whether that changed any.
func PlainCalls(calls []*Call) (changed bool) {
	for _, c := range calls {
		if o := Plainly(c.Operation); !reflect.DeepEqual(o, c.Operation) {
			c.Operation, changed = o, true
		}
	}
	return changed
}

// Plainly returns an operation with such fields in ASCII.
func Plainly(o Operation) Operation {
	v := reflect.New(reflect.TypeOf(o)).Elem()
	v.Set(reflect.ValueOf(o))
	plainFields(v)
	return v.Interface().(Operation)
}

// plainFields changes a struct that is a copy, and copies what it refers to.
func plainFields(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		_, tagged := v.Type().Field(i).Tag.Lookup("text")
		switch kind := f.Kind(); {
		case kind == reflect.Struct:
			plainFields(f)
		case kind == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			all := reflect.MakeSlice(f.Type(), f.Len(), f.Len())
			reflect.Copy(all, f)
			for k := range all.Len() {
				plainFields(all.Index(k))
			}
			f.Set(all)
		case tagged && kind == reflect.String:
			f.SetString(plain(f.String()))
		case tagged && !f.IsNil():
			text := plain(f.Elem().String())
			f.Set(reflect.ValueOf(&text))
		}
	}
}

// plain writes what is not ASCII as JSON does: some of these texts are JSON.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
