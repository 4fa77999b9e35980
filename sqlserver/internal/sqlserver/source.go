package sqlserver

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// texts are what the files say. They do not change, so a process reads them once.
var texts = sync.OnceValues(func() (*engine.Texts, error) { return engine.Read(folder()) })

// folder returns the statements for SQL Server. Parameters keep their names: every statement
// runs by sp_executesql, which declares them.
func folder() *engine.Source {
	return &engine.Source{
		Syntax: engine.Syntax{
			Placeholder: func(_ int, name string, _ reflect.Type) string { return "@" + name },
			Now:         clock,
			Began:       clock,
			Call: func(routine, arguments string, number bool) string {
				call := strings.TrimSpace("DECLARE @GOT int;\nEXEC @GOT = "+routine+" "+arguments) + ";\n"
				if number {
					return call + "SELECT CAST(@GOT AS bigint) AS n"
				}
				return call + "SET NOCOUNT OFF;\npawl.changed(@GOT)"
			},
		},
		Folders:    []fs.FS{op.Statements, files},
		Early:      func(text string) bool { return strings.Contains(text, "\nCREATE FUNCTION ") },
		Operations: slices.Concat(slices.DeleteFunc(op.All(), func(o engine.Operation) bool { return tuned(o) }), statements()),
	}
}

// clock is the variable that holds the time: read once, so that a statement has one time
// and an index can be searched by it.
const clock = "@now"

// declareClock precedes a statement that uses the time.
const declareClock = "DECLARE " + clock + " datetime2(7) = SYSUTCDATETIME();\n"

// declaration returns the declaration of a parameter.
func (db *DB) declaration(name string, t reflect.Type) string {
	if list, ok := tableTypes()[t]; ok {
		return "@" + name + " " + db.folder.Names.Quote(list) + " READONLY"
	}
	return "@" + name + " " + typeName(t)
}

// tableTypes are the types of the lists that are sent as tables, because their elements
// have payloads; the columns are the elements' fields in their order. Other lists are sent
// as JSON.
func tableTypes() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[[]op.NewMessage](): "outbox_message_list",
		reflect.TypeFor[[]op.NewTimer]():   "timer_list",
		reflect.TypeFor[[]op.JoinResult](): "outbox_result_list",
		reflect.TypeFor[[]op.FlowStep]():   "flow_step_list",
	}
}

// typeName returns the T-SQL type of a Go type.
func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[bool]():
		return "bit"
	case reflect.TypeFor[int]():
		return "int"
	case reflect.TypeFor[int64](), reflect.TypeFor[time.Duration]():
		return "bigint" // durations are microseconds
	case reflect.TypeFor[string]():
		return "nvarchar(max)"
	case reflect.TypeFor[[]byte]():
		return "varbinary(max)"
	case reflect.TypeFor[[16]byte]():
		return "uniqueidentifier"
	case reflect.TypeFor[time.Time]():
		return "datetime2(7)"
	}
	if t.Kind() == reflect.Slice {
		return "nvarchar(max)" // JSON
	}
	panic(fmt.Sprintf("sqlserver: no type for %s", t))
}

// text is a statement as it is sent.
type text struct {
	own     string // as a literal, for a transaction of pawl's own: it returns one result set
	foreign string // as a literal, for a caller's: its result is rows affected
	batch   string // foreign, as it is sent
	declare string // of its parameters, as a literal; empty if there are none
	params  int
	changes bool // it returns how many rows it changed
	rows    bool // it returns rows
}

// textOf returns a statement as it is sent.
func (db *DB) textOf(s *engine.Statement) *text {
	if known, ok := db.texts.Load(s); ok {
		return known.(*text)
	}
	t := &text{params: s.Parameters(), changes: !s.Counts() && len(s.Columns()) == 0, rows: len(s.Columns()) > 0}
	var declared []string
	for i := range t.params {
		name, of := s.Parameter(i + 1)
		declared = append(declared, db.declaration(name, of))
	}
	if t.params > 0 {
		t.declare = quoteText(strings.Join(declared, ", "))
	}
	body := strings.TrimRight(strings.TrimSpace(s.Text), ";")
	if engine.Mentions(body, clock) {
		body = declareClock + body
	}
	own, foreign := body, body
	if t.changes {
		own += ";\nSELECT @@ROWCOUNT AS changed"
		if !strings.Contains(body, "SET NOCOUNT OFF") { // otherwise it says itself from where on rows count
			foreign = "SET NOCOUNT OFF;\n" + body
		}
	}
	t.own, t.foreign = quoteText(own), quoteText(foreign)
	t.batch = t.within()
	db.texts.Store(s, t)
	return t
}
