package anydriver

import (
	"io/fs"
	"reflect"
	"slices"
	"strconv"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// folder describes SQLite's statements and their syntax. The clock is a parameter: SQLite's
// has only milliseconds, and tests set it.
func folder(answered func(engine.Operation) bool) *engine.Source {
	placeholder := func(n int, _ string, _ reflect.Type) string { return "?" + strconv.Itoa(n) }
	return &engine.Source{
		Syntax:     engine.Syntax{Placeholder: placeholder},
		Folders:    []fs.FS{op.Statements, files},
		Operations: slices.Concat(slices.DeleteFunc(op.All(), answered), statements()),
	}
}
