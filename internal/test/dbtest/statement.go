package dbtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Statement returns the statement by which the database answers an operation, and its parameters as database/sql takes
// them: to look at how the database goes about it.
func (d Database) Statement(t testing.TB, o engine.Operation) (text string, args []any) {
	t.Helper()
	folder, err := engine.Load(d.source(t, o), d.names())
	if err != nil {
		t.Fatal(err)
	}
	s := folder.Statement(o)
	for _, a := range s.Args(nil, o, time.Now().UnixMicro()) {
		args = append(args, d.plain(t, a))
	}
	return s.Text, args
}

// source is what one statement of the engine's is read from.
func (d Database) source(t testing.TB, o engine.Operation) *engine.Source {
	own, syntax := "internal/sql/sqlite/anydriver", engine.Syntax{Placeholder: func(n int, _ string, _ reflect.Type) string { return fmt.Sprintf("?%d", n) }}
	if d.Engine() == "postgres" {
		own, syntax = "internal/sql/postgres", engine.Syntax{Placeholder: typed, Now: "clock_timestamp()", Began: "now()"}
	}
	return &engine.Source{
		Syntax: syntax, Folders: []fs.FS{op.Statements, os.DirFS(filepath.Join(root(t), own))}, Operations: []engine.Operation{o},
	}
}

func typed(n int, _ string, t reflect.Type) string {
	types := map[reflect.Type]string{
		reflect.TypeFor[int](): "int4", reflect.TypeFor[int64](): "int8", reflect.TypeFor[[16]byte](): "uuid",
		reflect.TypeFor[time.Duration](): "interval", reflect.TypeFor[[]string](): "text[]", reflect.TypeFor[string](): "text", reflect.TypeFor[*string](): "text",
		reflect.TypeFor[bool](): "bool", reflect.TypeFor[*int64](): "int8", reflect.TypeFor[[]int64](): "int8[]", reflect.TypeFor[*[16]byte](): "uuid",
		reflect.TypeFor[time.Time](): "timestamptz", reflect.TypeFor[*time.Time](): "timestamptz", reflect.TypeFor[[]byte](): "bytea", reflect.TypeFor[*int](): "int4", reflect.TypeFor[*time.Duration](): "interval", reflect.TypeFor[*bool](): "bool",
	}
	if types[t] == "" {
		panic(fmt.Sprintf("dbtest: parameters of type %v are not supported", t))
	}
	return fmt.Sprintf("$%d::pg_catalog.%s", n, types[t])
}

// plain is a parameter as drivers take it.
func (d Database) plain(t testing.TB, a any) any {
	switch v := a.(type) {
	case time.Duration:
		if d.Engine() == "postgres" {
			return fmt.Sprintf("%d microseconds", v.Microseconds())
		}
		return v.Microseconds()
	case []string:
		if v != nil {
			t.Fatal("a list of texts is not supported")
		}
		return nil
	case *time.Duration:
		if v != nil {
			return d.plain(t, *v)
		}
		return nil
	case *[16]byte:
		if v != nil {
			return d.plain(t, *v)
		}
		return nil
	case [16]byte:
		if d.Engine() == "postgres" {
			return fmt.Sprintf("%x", v)
		}
		return v[:]
	}
	return a
}

// names are those of the database's tables.
func (d Database) names() (names engine.Names) {
	if schema, _, ok := strings.Cut(d.Table(""), "."); ok {
		names.Schema = schema
	}
	return names
}

// root returns the folder of the repository, also for tests of the modules in it.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "internal", "test", "dbtest")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	t.Fatal("the test does not run in the repository", err)
	return ""
}
