package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// amount is how much of something there is.
type amount struct{ files, lines int }

func (a *amount) add(b amount) { a.files, a.lines = a.files+b.files, a.lines+b.lines }

// operation is how one is answered.
type operation struct {
	name      string
	common    bool            // its statement is the same everywhere
	statement map[string]bool // of which engines have one of their own
	routine   string
	called    map[string]bool // which engines call the routine
}

// own is what an engine's folder holds.
type own struct {
	name       string
	statements amount // of operations
	parts      amount // of operations that it answers in Go
	macros     amount
	schema     amount
	views      amount
	routines   amount // that its statements need
	public     amount // that only programs in other languages call
	grants     amount
	code       amount
}

type contract struct {
	operations []operation
	methods    []string // of engine.DB
	common     amount
	engines    []*own
}

func count(root string) (*contract, error) {
	c := &contract{}
	for _, o := range op.All() {
		c.operations = append(c.operations, operation{name: engine.NameOf(o), statement: map[string]bool{}, routine: engine.RoutineOf(o), called: map[string]bool{}})
	}
	slices.SortFunc(c.operations, func(a, b operation) int { return strings.Compare(a.name, b.name) })
	for i := range reflect.TypeFor[engine.DB]().NumMethod() {
		c.methods = append(c.methods, reflect.TypeFor[engine.DB]().Method(i).Name)
	}
	for i := range c.operations {
		o := &c.operations[i]
		n, err := measure(filepath.Join(root, "internal/engine/op", o.name+".sql"))
		if err != nil {
			return nil, err
		}
		o.common = n.files > 0
		c.common.add(n)
	}
	for _, f := range []struct{ name, path string }{
		{"sqlite", "internal/sql/sqlite/anydriver"}, {"postgres", "internal/sql/postgres"}, {"sqlserver", "sqlserver/internal/sqlserver"},
	} {
		e, err := c.engine(root, filepath.Join(root, f.path), f.name)
		if err != nil {
			return nil, err
		}
		c.engines = append(c.engines, e)
	}
	return c, nil
}

// engine counts an engine's folder.
func (c *contract) engine(root, dir, name string) (*own, error) {
	e, calls := &own{name: name}, ""
	for i := range c.operations {
		o := &c.operations[i]
		n, err := measure(filepath.Join(dir, o.name+".sql"))
		if err != nil {
			return nil, err
		}
		if o.statement[name] = n.files > 0; n.files > 0 {
			e.statements.add(n)
			continue
		}
		n, err = measure(filepath.Join(dir, "routines", o.routine+".sql"))
		if err != nil {
			return nil, err
		}
		if o.called[name] = n.files > 0; n.files > 0 {
			calls += "pawl." + o.routine + "(\n"
		}
	}
	for _, part := range []struct {
		pattern string
		to      *amount
	}{{"schema/*.sql", &e.schema}, {"views/*.sql", &e.views}, {"macros/*.sql", &e.macros}, {"grants/*.sql", &e.grants}} {
		if err := each(filepath.Join(dir, part.pattern), part.to); err != nil {
			return nil, err
		}
	}
	if err := e.split(root, dir, calls); err != nil {
		return nil, err
	}
	var sql amount
	if err := each(filepath.Join(dir, "*/*.sql"), &sql); err != nil {
		return nil, err
	}
	for _, counted := range []amount{e.statements, e.schema, e.views, e.macros, e.grants, e.routines, e.public} {
		sql.add(amount{-counted.files, -counted.lines})
	}
	e.parts = sql
	code, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, f := range code {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		n, err := measure(f)
		if err != nil {
			return nil, err
		}
		e.code.add(n)
	}
	return e, nil
}

// call is that of a function, or of a procedure in T-SQL.
var call = regexp.MustCompile(`EXEC (?:@\w+ = )?pawl\.([a-z_0-9]+)|pawl\.([a-z_0-9]+)\(`)

// split tells the routines that an engine's statements, views and macros need, and what those
// call in turn, from those that only programs call.
func (e *own) split(root, dir, calls string) error {
	texts := map[string]string{"calls": calls}
	for _, pattern := range []string{filepath.Join(dir, "*/*.sql"), filepath.Join(dir, "*.go"), filepath.Join(root, "internal/engine/op/*/*.sql")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			texts[f] = string(text)
		}
	}
	routine := func(name string) string { return filepath.Join(dir, "routines", name+".sql") }
	needed := map[string]bool{}
	var need func(text string)
	need = func(text string) {
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			if f := routine(m[1] + m[2]); texts[f] != "" && !needed[f] {
				needed[f] = true
				need(texts[f])
			}
		}
	}
	for f, text := range texts {
		if filepath.Base(filepath.Dir(f)) != "routines" && !strings.HasSuffix(f, "_test.go") {
			need(text)
		}
	}
	for f, text := range texts {
		if filepath.Base(filepath.Dir(f)) != "routines" {
			continue
		}
		to := &e.public
		if needed[f] {
			to = &e.routines
		}
		to.add(amount{1, strings.Count(text, "\n")})
	}
	return nil
}

// each measures the files of a pattern.
func each(pattern string, to *amount) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, f := range files {
		n, err := measure(f)
		if err != nil {
			return err
		}
		to.add(n)
	}
	return nil
}

// measure counts a file's lines; nothing if there is none.
func measure(file string) (amount, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return amount{}, nil
	}
	return amount{1, bytes.Count(text, []byte("\n"))}, err
}
