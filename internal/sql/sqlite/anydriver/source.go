package anydriver

import (
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// texts are what the files say. They do not change, so a process reads them once.
var texts = sync.OnceValues(func() (*engine.Texts, error) { return engine.Read(folder()) })

// folder describes SQLite's statements and their syntax, and has the answers that are not
// statements. The clock is a parameter: SQLite's has only milliseconds, and tests set it.
func folder() *engine.Source {
	own := newAnswers()
	placeholder := func(n int, _ string, _ reflect.Type) string { return "?" + strconv.Itoa(n) }
	return &engine.Source{
		Syntax:     engine.Syntax{Placeholder: placeholder},
		Folders:    []fs.FS{op.Statements, files},
		Operations: slices.Concat(slices.DeleteFunc(op.All(), own.has), statements()),
		Go:         own,
	}
}
