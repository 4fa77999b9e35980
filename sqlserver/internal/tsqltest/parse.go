// Package tsqltest reads T-SQL texts in tests: it parses them, says what statements they
// consist of and which hints they give, and finds what pawl's texts must not contain.
// It knows no names of tables and columns: whether these exist only a database says.
package tsqltest

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/sqlc-dev/teesql/ast"
	"github.com/sqlc-dev/teesql/parser"
)

// Parse parses a text. The parser is lenient: words that belong to no statement, words
// taken for the name of a procedure, and a parenthesis without its other half are errors
// here.
func Parse(text string) (*ast.Script, error) {
	text = simplified(text)
	script, err := parser.Parse(context.Background(), strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	if n := parentheses(text); n != 0 {
		return nil, fmt.Errorf("%d parentheses too many are open", n)
	}
	units := utf16.Encode([]rune(text)) // what the parser counts in
	Walk(script, func(n any) {
		if s, ok := n.(*ast.ExecuteStatement); ok && !startsWith(units, s.Frag(), "EXEC") && err == nil {
			err = fmt.Errorf("%q is no statement", part(units, s.Frag()))
		}
	})
	if err != nil {
		return nil, err
	}
	for _, b := range script.Batches {
		for _, s := range b.Statements {
			span, ok := s.(interface{ Frag() *ast.Fragment })
			if !ok || !span.Frag().HasSpan() {
				return nil, fmt.Errorf("a %T without a place", s)
			}
			for i := span.Frag().StartOffset; i < span.Frag().EndOffset(); i++ {
				units[i] = ' '
			}
		}
	}
	if rest := between(string(utf16.Decode(units))); rest != "" {
		return nil, fmt.Errorf("%q is in no statement", rest)
	}
	return script, nil
}

// What the parser does not understand of T-SQL that is right: COLLATE behind a variable
// or a literal, and a column with a name that is a word of WAITFOR.
var (
	collate = regexp.MustCompile(`(@\w+|') COLLATE \w+`)
	delay   = regexp.MustCompile(`([(,.] ?)delay\b`)
)

// simplified is a text of the same length without that.
func simplified(text string) string {
	text = collate.ReplaceAllStringFunc(text, func(found string) string {
		variable, _, _ := strings.Cut(found, " ")
		return variable + strings.Repeat(" ", len(found)-len(variable))
	})
	return delay.ReplaceAllString(text, "${1}pause")
}

// part is the text of a statement.
func part(units []uint16, f *ast.Fragment) string {
	return string(utf16.Decode(units[f.StartOffset:f.EndOffset()]))
}

func startsWith(units []uint16, f *ast.Fragment, word string) bool {
	text := part(units, f)
	return len(text) >= len(word) && strings.EqualFold(text[:len(word)], word)
}

// parentheses counts those that are opened and not closed, outside of texts and comments.
func parentheses(text string) (open int) {
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "--"):
			i = end(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = end(text, i, "*/")
		case text[i] == '\'':
			i = end(text, i+1, "'")
		case text[i] == '[':
			i = end(text, i, "]")
		case text[i] == '(':
			open++
		case text[i] == ')':
			open--
		}
	}
	return open
}

// end is where what begins at an index ends.
func end(text string, from int, with string) int {
	if from > len(text) {
		return len(text)
	}
	if n := strings.Index(text[from:], with); n >= 0 {
		return from + n + len(with) - 1
	}
	return len(text)
}

// between removes what may be between statements: comments, semicolons and GO.
func between(text string) string {
	var rest []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "--")
		if line = strings.Trim(line, "; \t\r\n"); line != "" && !strings.EqualFold(line, "GO") {
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, " ")
}

// Walk calls f for a node and everything below it, the node first. f gets pointers to
// the types of package ast.
func Walk(node any, f func(node any)) {
	(&walker{f: f, seen: map[any]bool{}}).walk(reflect.ValueOf(node))
}

type walker struct {
	f    func(any)
	seen map[any]bool
}

func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.walk(v.Field(i))
			}
		}
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.Interface()] {
			return
		}
		w.seen[v.Interface()] = true
		if v.Elem().Kind() == reflect.Struct {
			w.f(v.Interface())
		}
		w.walk(v.Elem())
	}
}

// Kinds are the kinds of statements of a text in the order in which they are written,
// those inside others included: "Delete", "Insert", "If".
func Kinds(script *ast.Script) (kinds []string) {
	Walk(script, func(n any) {
		if _, ok := n.(ast.Statement); ok {
			kinds = append(kinds, kindOf(n))
		}
	})
	return kinds
}

// kindOf is the name of a node's type.
func kindOf(n any) string {
	return strings.TrimSuffix(reflect.TypeOf(n).Elem().Name(), "Statement")
}
