package engine_test

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

type runs struct {
	Lo   int64
	Text *string
	ID   [16]byte
}

type by struct {
	ID    int64
	Actor string
}

// TestDo is "test/do".
type TestDo struct {
	engine.Rows[answer]
	Name       string
	MessageIDs []int64
	Lease      time.Duration
	Runs       []runs
	Note       by
}

type place struct{ A, LockedUntilUTC int64 }

type answer struct {
	place
	Queue string
}

// syntax writes the type of a parameter behind it.
var syntax = engine.Syntax{
	Placeholder: func(n int, _ string, t reflect.Type) string { return "$" + strconv.Itoa(n) + ":" + t.String() },
	Now:         "clock()", Began: "began()", Columns: true,
}

// all uses every parameter of TestDo.
const all = "@name @message_ids @lease @runs.lo @note_id @note_actor "

func load(t testing.TB, s engine.Syntax, files map[string]string) (*engine.Folder, error) {
	t.Helper()
	folder := fstest.MapFS{"schema/0001_t.sql": {Data: []byte("CREATE TABLE pawl.t (a integer)")}}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return engine.Load(&engine.Source{Syntax: s, Folders: []fs.FS{fstest.MapFS{"macros/half.sql": {Data: []byte("-- half(of)\n({of} / 2)")}}, folder}, Operations: []engine.Operation{TestDo{}}}, engine.Names{})
}

// OBX-112: what a statement names is bound to the operation's fields, in the order in
// which it names them.
func TestStatementsAreBound(t *testing.T) {
	folder, err := load(t, syntax, map[string]string{"test/do.sql": "-- A note: @not.\n" + all + `@name '@not' "@not" @runs.text @runs.id a @> b @now @began -- @not`})
	if err != nil {
		t.Fatal(err)
	}
	do := TestDo{Name: "n", MessageIDs: []int64{1}, Lease: time.Hour, Runs: []runs{{Lo: 1}, {Lo: 2}}, Note: by{ID: 7, Actor: "me"}}
	s := folder.Statement(do)
	want := `$1:string $2:[]int64 $3:time.Duration $4:[]int64 $5:int64 $6:string $1:string '@not' "@not" $7:[]*string $8:[][16]uint8 a @> b clock() began() -- @not`
	if s.Text != want || s.Name != "test/do" {
		t.Errorf("%s is %s, want %s", s.Name, s.Text, want)
	}
	got := s.Args(nil, do, nil)
	values := []any{"n", []int64{1}, time.Hour, []int64{1, 2}, int64(7), "me", []*string(nil), make([][16]byte, 2)}
	if !reflect.DeepEqual(got, values) {
		t.Errorf("the parameters are %#v, want %#v", got, values)
	}
	text := "x"
	do.Runs[1].Text = &text
	if got := s.Args(nil, do, nil)[6]; !reflect.DeepEqual(got, []*string{nil, &text}) {
		t.Errorf("a column that one has is %#v", got)
	}
	if names := s.Columns(); !slices.Equal(names, []string{"a", "locked_until_utc", "queue"}) {
		t.Errorf("the columns are %s", names)
	}
}

// An engine that has no clock of its own is given the time, and lists of structs are for
// those that can take columns.
func TestClockIsAParameter(t *testing.T) {
	plain := engine.Syntax{Placeholder: func(n int, _ string, _ reflect.Type) string { return "?" + strconv.Itoa(n) }}
	folder, err := load(t, plain, map[string]string{"test/do.sql": "-- ignores @runs, @message_ids: the other loop has them\n@now @name @lease @note_id @began @note_actor"})
	if err != nil {
		t.Fatal(err)
	}
	s := folder.Statement(TestDo{})
	if s.Text != "?1 ?2 ?3 ?4 ?1 ?5" || s.Args(nil, TestDo{Name: "n"}, int64(42))[0] != int64(42) {
		t.Errorf("%s %v", s.Text, s.Args(nil, TestDo{}, int64(42)))
	}
	if _, err := load(t, plain, map[string]string{"test/do.sql": all}); err == nil || !strings.Contains(err.Error(), "@runs.lo") {
		t.Errorf("columns are %v", err)
	}
}

// Statements and operations that do not fit each other are refused when they are loaded.
func TestStatementsFitTheirOperations(t *testing.T) {
	for text, want := range map[string]string{
		all + "@other":                   "no parameter @other",
		all + "@runs.other":              "no parameter @runs.other",
		all + "@name.lo":                 "no parameter @name.lo",
		strings.TrimPrefix(all, "@name"): "does not use @name",
		"-- ignores @name: no\n" + all:   "uses @name",
		all + "pawl.half(1":              "parenthesis",
		all + "pawl.half(1, 2)":          "1 parameters",
	} {
		if _, err := load(t, syntax, map[string]string{"test/do.sql": text}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "test/do") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := load(t, syntax, nil); err == nil || !strings.Contains(err.Error(), "test/do") {
		t.Errorf("without a statement: %v", err)
	}
}

// TestPut is "test/put", and calls put_rows.
type TestPut struct {
	engine.Changes `call:"put_rows"`
	Name           string
	Runs           []runs
	By             by
}

// TestCount is "test/count", and calls test_count.
type TestCount struct {
	engine.Number
	Name string
}

// D-561: an operation whose fields are the parameters of a routine needs no file: its statement is a call
// with the fields in their order. A file that says no more is refused; one that says more, and one that
// all engines share where there is no such routine, hold.
func TestCallsAreDerived(t *testing.T) {
	syntax := engine.Syntax{
		Placeholder: func(_ int, name string, _ reflect.Type) string { return ":" + name },
		Call: func(routine, arguments string, number bool) string {
			return fmt.Sprintf("%s(%s) %t", routine, arguments, number)
		},
	}
	columns := syntax
	columns.Columns = true
	const put, count = "routines/put_rows.sql", "routines/test_count.sql"
	for _, c := range []struct {
		syntax         *engine.Syntax
		files          map[string]string
		put, count, is string
	}{
		{&syntax, map[string]string{put: "", count: ""}, `"put_rows"(:name, :runs, :by_id, :by_actor) false`, `"test_count"(:name) true`, ""},
		{&columns, map[string]string{put: "", count: ""}, `"put_rows"(:name, :runs.lo, :runs.text, :runs.id, :by_id, :by_actor) false`, `"test_count"(:name) true`, ""},
		{&syntax, map[string]string{put: "", count: "", "test/count.sql": "own :name @name"}, `"put_rows"(:name, :runs, :by_id, :by_actor) false`, "own :name :name", ""},
		{&syntax, map[string]string{put: ""}, `"put_rows"(:name, :runs, :by_id, :by_actor) false`, "shared :name", ""},
		{&syntax, map[string]string{"views/put_rows.sql": ""}, "", "", "operation test/put: no statement"},
		{&syntax, map[string]string{put: "", count: "", "test/count.sql": "pawl.test_count(@name) true\n"}, "", "", "statement test/count: without its file"},
	} {
		own := fstest.MapFS{"schema/0001_t.sql": {Data: []byte("CREATE TABLE pawl.t (a integer)")}}
		for name, text := range c.files {
			own[name] = &fstest.MapFile{Data: []byte(text)}
		}
		folder, err := engine.Load(&engine.Source{
			Syntax: *c.syntax, Folders: []fs.FS{fstest.MapFS{"test/count.sql": {Data: []byte("shared @name")}}, own}, Operations: []engine.Operation{TestPut{}, TestCount{}},
		}, engine.Names{})
		switch {
		case c.is != "":
			if err == nil || !strings.Contains(err.Error(), c.is) {
				t.Errorf("%v: %v, want %s", c.files, err, c.is)
			}
		case err != nil:
			t.Errorf("%v: %v", c.files, err)
		case folder.Statement(TestPut{}).Text != c.put || folder.Statement(TestCount{}).Text != c.count || len(folder.Unbound()) > 0:
			t.Errorf("%v: %s, %s, unbound %v", c.files, folder.Statement(TestPut{}).Text, folder.Statement(TestCount{}).Text, folder.Unbound())
		}
	}
}

// What statements have in common stands once, column lists too.
func TestMacros(t *testing.T) {
	for text, want := range map[string]string{
		"pawl.half(x)":                                  "(x / 2)",
		"pawl.half(f(a, pawl.half((b))), ')')":          "", // two arguments
		"pawl.half(pawl.half(f(a)))":                    "((f(a) / 2) / 2)",
		"pawl.halfway(x) pawl.half":                     `"halfway"(x) "half"`,
		"SELECT pawl.columns(t)":                        "SELECT t.a, t.locked_until_utc, t.queue",
		"SELECT pawl.columns(t), 1 AS queue, 2":         "SELECT t.a, t.locked_until_utc, 1 AS queue, 2",
		"SELECT pawl.columns(t, queue, upper(t.queue))": "SELECT t.a, t.locked_until_utc, upper(t.queue) AS queue",
		"SELECT pawl.columns(t), 1 AS queues":           "SELECT t.a, t.locked_until_utc, t.queue, 1 AS queues",
	} {
		if _, err := load(t, syntax, map[string]string{"test/do.sql": text + "--" + all}); err == nil {
			t.Errorf("%q: parameters in a comment are used", text)
			continue
		}
		folder, err := load(t, syntax, map[string]string{"test/do.sql": text + " " + all})
		if want == "" {
			if err == nil {
				t.Errorf("%q is %q", text, folder.Statement(TestDo{}).Text)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(folder.Statement(TestDo{}).Text, want+" $1") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	folder, err := load(t, syntax, map[string]string{"test/do.sql": "pawl.half(4) " + all, "macros/half.sql": "-- half(n)\n{n} >> 1"})
	if err != nil || !strings.HasPrefix(folder.Statement(TestDo{}).Text, "4 >> 1 ") {
		t.Errorf("an engine's own macro: %v", err)
	}
	for _, bad := range []string{"x", "-- halve(a)\nx", "-- half(a\nx"} {
		if _, err := load(t, syntax, map[string]string{"test/do.sql": all, "macros/half.sql": bad}); err == nil {
			t.Errorf("a macro that begins with %q is accepted", bad)
		}
	}
}

// An operation's name is its type's.
func TestNamesOfOperations(t *testing.T) {
	if name := engine.NameOf(TestDo{}); name != "test/do" {
		t.Error(name)
	}
}
