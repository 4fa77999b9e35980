package postgres

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/op"
)

// folder is what pawl asks of PostgreSQL, and how that is written.
func folder() *engine.Source {
	return &engine.Source{
		Syntax: engine.Syntax{
			Placeholder: placeholder,
			// The clock moves on within a transaction, and an index cannot be searched by
			// it; when the transaction began does not and can.
			Now:     "clock_timestamp()",
			Began:   "now()",
			Columns: true,
		},
		Folders:    []fs.FS{op.Statements, files},
		Operations: slices.Concat(slices.DeleteFunc(op.All(), tuned), statements()),
	}
}

// statements are those that only PostgreSQL has, each without values.
func statements() []engine.Operation {
	return slices.Concat(doctorStatements(), []engine.Operation{outboxClaim{}, outboxClaimAny{}})
}

// types are what Go's types are in PostgreSQL.
var types = map[reflect.Type]string{
	reflect.TypeFor[bool]():               "bool",
	reflect.TypeFor[int]():                "int4",
	reflect.TypeFor[int64]():              "int8",
	reflect.TypeFor[string]():             "text",
	reflect.TypeFor[[]byte]():             "bytea",
	reflect.TypeFor[[16]byte]():           "uuid",
	reflect.TypeFor[time.Time]():          "timestamptz",
	reflect.TypeFor[time.Duration]():      "interval",
	reflect.TypeFor[pgtype.Timestamptz](): "timestamptz",
}

// placeholder says of what type a parameter is: without prepared statements, as behind
// a connection pooler, nothing else does.
func placeholder(n int, t reflect.Type) string {
	array := ""
	if _, known := types[t]; !known && t.Kind() == reflect.Slice {
		t, array = t.Elem(), "[]"
	}
	if _, known := types[t]; !known && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, known := types[t]
	if !known {
		panic(fmt.Sprintf("postgres: no type for %s", t))
	}
	return "$" + strconv.Itoa(n) + "::pg_catalog." + name + array
}
