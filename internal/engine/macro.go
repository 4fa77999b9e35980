package engine

import (
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"strings"
)

// macro is a text that statements use, as pawl.paused(l.queue). Its file is
// macros/paused.sql, which begins with a line "-- paused(queue)" and has {queue}
// wherever the argument goes.
type macro struct {
	params []string
	text   string
}

type macros map[string]macro

// loadMacros reads macros/*.sql, beside backoff, which is Go's. Files of a later folder replace those of an earlier one.
func loadMacros(folders ...fs.FS) (macros, error) {
	all := macros{"backoff": backoffMacro()}
	for _, files := range folders {
		paths, err := fs.Glob(files, "macros/*.sql")
		if err != nil {
			return nil, fmt.Errorf("load macros: %w", err)
		}
		for _, p := range paths {
			text, err := fs.ReadFile(files, p)
			if err != nil {
				return nil, fmt.Errorf("load macros: %w", err)
			}
			name := strings.TrimSuffix(path.Base(p), ".sql")
			head, _, _ := strings.Cut(string(text), "\n")
			list, ok := strings.CutPrefix(head, "-- "+name+"(")
			list, _, closed := strings.Cut(list, ")")
			if !ok || !closed {
				return nil, fmt.Errorf("macro %s: the first line is not -- %s(parameters)", name, name)
			}
			m := macro{text: stripHeader(string(text))}
			for param := range strings.SplitSeq(list, ",") {
				m.params = append(m.params, strings.TrimSpace(param))
			}
			all[name] = m
		}
	}
	return all, nil
}

const columnsMacro = "columns"

// expand replaces the macros of a statement whose result has rows of a type; pawl.columns(t)
// stands for that row's columns, each of table t, except those that the statement names
// itself: "… AS name". pawl.columns(t, name, value) has a value in place of one of them.
func (m macros) expand(text string, row reflect.Type) (string, error) {
	for from := 0; ; {
		at := strings.Index(text[from:], mark)
		if at < 0 {
			return text, nil
		}
		at += from
		open := nameEnd(text, at+len(mark))
		if open < 0 || open >= len(text) || text[open] != '(' {
			from = at + len(mark)
			continue
		}
		name := text[at+len(mark) : open]
		used, known := m[name]
		if !known && name != columnsMacro {
			from = open
			continue
		}
		args, end := arguments(text, open)
		if end < 0 {
			return "", fmt.Errorf("pawl.%s: a parenthesis is missing", name)
		}
		var with string
		if name == columnsMacro {
			with = columnsOf(row, text, args)
		} else {
			if len(args) != len(used.params) {
				return "", fmt.Errorf("pawl.%s has %d parameters, not %d", name, len(used.params), len(args))
			}
			with = used.text
			for i, p := range used.params {
				with = strings.ReplaceAll(with, "{"+p+"}", args[i])
			}
		}
		text, from = text[:at]+with+text[end:], at
	}
}

// reserved is the one name of a column that is a word of some engine's SQL.
const reserved = "key"

// columnsOf lists the columns of a row, each of a table: the arguments are the table and, in place of
// columns, their names and values by turns.
func columnsOf(row reflect.Type, text string, args []string) string {
	instead := map[string]string{}
	for i := 1; i+1 < len(args); i += 2 {
		instead[args[i]] = args[i+1] + " AS " + args[i]
	}
	var columns []string
	for _, name := range columnNames(row) {
		switch value, other := instead[name]; {
		case other:
			columns = append(columns, value)
		case named(text, name):
		case name == reserved:
			columns = append(columns, args[0]+`."`+name+`"`)
		default:
			columns = append(columns, args[0]+"."+name)
		}
	}
	return strings.Join(columns, ", ")
}

// named reports whether a statement has a column AS name.
func named(text, name string) bool { return Mentions(text, " AS "+name) }

// Mentions reports whether a text of SQL has what ends in a word: "a" is not in "ab".
func Mentions(text, what string) bool {
	for {
		_, rest, ok := strings.Cut(text, what)
		if !ok {
			return false
		}
		if rest == "" || !IsWord(rest[0]) {
			return true
		}
		text = rest
	}
}

// arguments splits the text between the parenthesis at open and its closing one, and
// returns where that ends, or -1.
func arguments(text string, open int) (args []string, end int) {
	depth, from := 0, open+1
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return append(args, strings.TrimSpace(text[from:i])), i + 1
			}
		case ',':
			if depth == 1 {
				args, from = append(args, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	return nil, -1
}
