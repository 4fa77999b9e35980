package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root  = "../.."
	guide = root + "/docs/logs.md"
)

// event is how a message is logged, wherever that is.
type event struct {
	levels, keys string // sorted, with blanks between
}

// logged is what source files log.
type logged struct {
	t      *testing.T
	files  *token.FileSet
	levels map[string]map[string]bool // by message
	keys   map[string]map[string]bool // by message
	all    map[string]bool            // every key, also those that loggers carry
}

// The methods of slog.Logger that log, and where their message stands.
func methods() map[string]int {
	at := map[string]int{"Log": 2, "LogAttrs": 2}
	for _, level := range []string{"Debug", "Info", "Warn", "Error"} {
		at[level], at[level+"Context"] = 0, 1
	}
	return at
}

// logger reports whether an expression is a logger by its name: other things have a With, too.
func logger(of ast.Expr) bool {
	switch of := of.(type) {
	case *ast.Ident:
		return strings.Contains(strings.ToLower(of.Name), "log")
	case *ast.SelectorExpr:
		return logger(of.Sel)
	case *ast.CallExpr:
		return logger(of.Fun)
	}
	return false
}

var snake = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// read notes what one file logs. Whatever looks like a call of a logger is one: a
// message or key that is no constant text could not be listed, nor searched for.
func (l *logged) read(file *ast.File) {
	at := methods()
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := method.X.(*ast.Ident); ok && of.Name == "http" {
			return true // http.Error answers a request
		}
		name := method.Sel.Name
		if name == "With" && logger(method.X) {
			for key := range l.pairs(call, call.Args) {
				l.all[key] = true
			}
			return true
		}
		first, logs := at[name]
		if !logs || len(call.Args) <= first {
			return true // err.Error()
		}
		l.event(call, name, first)
		return true
	})
}

func (l *logged) event(call *ast.CallExpr, method string, first int) {
	message, ok := text(call.Args[first])
	if !ok {
		l.t.Errorf("%s: the message is no constant text", l.files.Position(call.Pos()))
		return
	}
	if l.levels[message] == nil {
		l.levels[message], l.keys[message] = map[string]bool{}, map[string]bool{}
	}
	if method == "Log" || method == "LogAttrs" {
		l.levels[message]["ERROR"], l.levels[message]["WARN"] = true, true // by what went wrong
	} else {
		l.levels[message][strings.ToUpper(strings.TrimSuffix(method, "Context"))] = true
	}
	for key := range l.pairs(call, call.Args[first+1:]) {
		l.all[key], l.keys[message][key] = true, true
	}
}

func (l *logged) pairs(call *ast.CallExpr, args []ast.Expr) map[string]bool {
	keys := map[string]bool{}
	for i := 0; i < len(args); i += 2 {
		key, ok := text(args[i])
		if !ok || !snake.MatchString(key) || i+1 == len(args) || keys[key] {
			l.t.Errorf("%s: key %d is no constant text in snake_case, is there twice, or has no value", l.files.Position(call.Pos()), i/2+1)
		}
		keys[key] = true
	}
	return keys
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// apart matches the directories of what no program of a user contains.
var apart = regexp.MustCompile(`^(\..+|bench|torture|tools|internal/test|examples/[^/]+|sqlserver/internal/[a-z]+test|.*/browsertest)$`)

// sources reads everything that becomes part of a program.
func sources(t *testing.T) *logged {
	t.Helper()
	l := &logged{t: t, files: token.NewFileSet(), levels: map[string]map[string]bool{}, keys: map[string]map[string]bool{}, all: map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if apart.MatchString(rel) && rel != "examples/demo" { // pawl demo runs it
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(l.files, path, nil, parser.SkipObjectResolution)
		if err == nil {
			l.read(file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func sorted(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), " ") }

// line is an item of a list, with a message and its keys in quotes of code.
var line = regexp.MustCompile("^- `([^`]+)`(?::((?: `[^`]+`)+))?")

// key is a name in quotes of code.
var key = regexp.MustCompile("`([a-z]+(?:_[a-z]+)*)`")

// listed is what the guide says: its events, in lists below the heading of their levels,
// and keys that loggers carry or that need explaining, in the last section.
func listed(t *testing.T) (events map[string]event, keys map[string]bool) {
	t.Helper()
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	text, last, found := strings.Cut(string(data), "\n## Keys\n")
	if !found {
		t.Fatal("the guide has no section of keys")
	}
	events, keys = map[string]event{}, map[string]bool{}
	levels := ""
	words := func(cell string) string {
		fields := strings.Fields(strings.NewReplacer("`", "", " or ", " ").Replace(cell))
		slices.Sort(fields)
		return strings.Join(fields, " ")
	}
	for item := range strings.Lines(text) {
		if heading, is := strings.CutPrefix(item, "### "); is {
			levels = words(heading)
		}
		found := line.FindStringSubmatch(item)
		if found == nil || levels == "" {
			continue
		}
		if _, twice := events[found[1]]; twice {
			t.Errorf("%q is listed twice", found[1])
		}
		events[found[1]] = event{levels, words(found[2])}
	}
	for _, found := range key.FindAllStringSubmatch(last, -1) {
		if keys[found[1]] {
			t.Errorf("key %q is listed twice", found[1])
		}
		keys[found[1]] = true
	}
	return events, keys
}

// OBX-102, OBX-103, OBX-104, OBX-105, OBX-106: docs/logs.md lists every event with
// its levels and keys, and nothing else.
func TestGuideListsWhatIsLogged(t *testing.T) {
	l := sources(t)
	events, keys := listed(t)
	if len(l.levels) < 20 {
		t.Fatalf("found only %d events in the sources", len(l.levels))
	}
	for message := range l.levels {
		is := event{sorted(l.levels[message]), sorted(l.keys[message])}
		if is != events[message] {
			t.Errorf("%q is logged at %s with %s; the guide says %+v", message, is.levels, is.keys, events[message])
		}
	}
	for message := range events {
		if l.levels[message] == nil {
			t.Errorf("the guide lists %q, which nobody logs", message)
		}
	}
	for _, e := range events {
		for _, key := range strings.Fields(e.keys) {
			keys[key] = true
		}
	}
	if is, says := sorted(l.all), sorted(keys); is != says {
		t.Errorf("keys are\n%s\nand in the guide\n%s", is, says)
	}
}
