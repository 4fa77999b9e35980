package postgres

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// texts are what the files say. They do not change, so a process reads them once.
var texts = sync.OnceValues(func() (*engine.Texts, error) { return engine.Read(folder()) })

// folder describes PostgreSQL's statements and their syntax.
func folder() *engine.Source {
	return &engine.Source{
		Syntax: engine.Syntax{
			Placeholder: placeholder,
			// The clock advances within a statement, so an index cannot be searched by it; the
			// time at which the transaction began is constant.
			Now:     "clock_timestamp()",
			Began:   "now()",
			Columns: true,
			Call: func(routine, arguments string, number bool) string {
				if number {
					return "SELECT " + routine + "(" + arguments + ")"
				}
				return "SELECT 1 FROM generate_series(1, " + routine + "(" + arguments + "))"
			},
		},
		Folders:    []fs.FS{op.Statements, files},
		Operations: slices.Concat(slices.DeleteFunc(op.All(), tuned), statements()),
	}
}

// statements returns those that only PostgreSQL has, each with zero fields.
func statements() []engine.Operation {
	return slices.Concat(doctorStatements(), []engine.Operation{outboxClaim{}, outboxNextDueFrom{}, outboxReapPart{}, outboxEnqueueMessage{}, timerDispatchRange{}, timerNextDueFrom{}})
}

// placeholder adds the type of a parameter: without prepared statements, as behind a
// connection pooler, the server cannot infer it.
func placeholder(n int, _ string, t reflect.Type) string {
	name, array := typeName(t), ""
	if name == "" && t.Kind() == reflect.Slice {
		t, array = t.Elem(), "[]"
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name = typeName(t); name == "" {
		panic(fmt.Sprintf("postgres: no type for %s", t))
	}
	return "$" + strconv.Itoa(n) + "::pg_catalog." + name + array
}

// typeName returns PostgreSQL's name of a Go type.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[bool]():
		return "bool"
	case reflect.TypeFor[int]():
		return "int4"
	case reflect.TypeFor[int64]():
		return "int8"
	case reflect.TypeFor[string]():
		return "text"
	case reflect.TypeFor[[]byte]():
		return "bytea"
	case reflect.TypeFor[[16]byte]():
		return "uuid"
	case reflect.TypeFor[time.Duration]():
		return "interval"
	case reflect.TypeFor[time.Time](), reflect.TypeFor[pgtype.Timestamptz]():
		return "timestamptz"
	}
	return ""
}
