package engine

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Texts are an engine's SQL as its files have it, the same under all names. They do not change.
type Texts struct {
	migrations []Migration
	objects    []Object
	bound      map[reflect.Type]*Statement
	unbound    []string
	code       any // Source.Go
}

// Source describes an engine's SQL.
type Source struct {
	Syntax
	// Folders hold the statements: files of a later one replace those of an earlier one. The
	// last is the engine's own, which has the migrations in the folder schema, and the
	// routines and views.
	Folders []fs.FS
	// Early reports of a routine's text whether it has to exist before what calls it is created.
	// Such routines are applied first, each behind those that it calls. May be nil.
	Early func(text string) bool
	// Operations are those that have a statement. The others are implemented in Go.
	Operations []Operation
	// Go is what implements those, in the engine's own terms; Folder.Go returns it. May be nil.
	Go any
}

// Load validates the names and reads an engine's SQL.
func Load(from *Source, n Names) (*Folder, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	t, err := Read(from)
	if err != nil {
		return nil, err
	}
	return t.Under(n)
}

// Read reads an engine's SQL.
func Read(from *Source) (*Texts, error) {
	t := &Texts{code: from.Go}
	own := from.Folders[len(from.Folders)-1]
	var err error
	if t.migrations, err = LoadMigrations(own); err != nil {
		return nil, err
	}
	m, err := loadMacros(from.Folders...)
	if err != nil {
		return nil, err
	}
	if t.objects, err = loadObjects(own, m, from.Early); err != nil {
		return nil, err
	}
	return t, t.loadStatements(from, m)
}

// Under validates names, and returns the SQL under them.
func (t *Texts) Under(n Names) (*Folder, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	return &Folder{Names: n, Migrations: t.migrations, Objects: t.objects, texts: t}, nil
}

// loadStatements reads every statement and binds it to its operation.
func (t *Texts) loadStatements(from *Source, m macros) error {
	texts, err := loadTexts(from.Folders)
	if err != nil {
		return err
	}
	last := len(from.Folders) - 1
	tables, err := tablesOf(from.Folders[last])
	if err != nil {
		return err
	}
	t.bound = map[reflect.Type]*Statement{}
	for _, op := range from.Operations {
		name := NameOf(op)
		own, _ := fs.ReadFile(from.Folders[last], name+".sql") // there may be none
		call := from.call(op, t.objects)
		text := cmp.Or(string(own), call, texts[name])
		if text == "" {
			return fmt.Errorf("operation %s: no statement", name)
		}
		if len(own) > 0 && strings.TrimSpace(text) == call {
			return fmt.Errorf("statement %s: without its file it is the same", name)
		}
		if text, err = m.expand(strings.ReplaceAll(text, tablesMacro, tables), op.answer()); err != nil {
			return fmt.Errorf("statement %s: %w", name, err)
		}
		s, err := bind(&from.Syntax, op, text)
		if err != nil {
			return err
		}
		t.bound[s.operation] = s
		delete(texts, name)
	}
	t.unbound = slices.Sorted(maps.Keys(texts))
	return nil
}

// tablesMacro stands for the names of all tables, as rows of VALUES.
const tablesMacro = mark + "tables()"

// loadTexts reads the statements of folders: "outbox/claim" is the file outbox/claim.sql.
// The folders of the schema and of grants hold none.
func loadTexts(folders []fs.FS) (map[string]string, error) {
	texts := map[string]string{}
	for _, files := range folders {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".sql" || slices.Contains([]string{"schema", "grants", "macros", Routines, Views}, path.Dir(name)) {
				return err
			}
			text, err := fs.ReadFile(files, name)
			texts[strings.TrimSuffix(name, ".sql")] = string(text)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("load statements: %w", err)
		}
	}
	return texts, nil
}

var createTable = regexp.MustCompile(`(?m)^(CREATE|DROP) TABLE pawl\.(\w+)`)

// tablesOf lists the tables that the migrations create and do not drop, as rows of VALUES.
func tablesOf(files fs.FS) (string, error) {
	paths, err := fs.Glob(files, "schema/*.sql") // in order of version
	if err != nil {
		return "", fmt.Errorf("load operations: %w", err)
	}
	var names []string
	for _, p := range paths {
		text, err := fs.ReadFile(files, p)
		if err != nil {
			return "", fmt.Errorf("load operations: %w", err)
		}
		for _, m := range createTable.FindAllStringSubmatch(string(text), -1) {
			row := "('pawl." + m[2] + "')"
			if m[1] == "DROP" {
				names = slices.DeleteFunc(names, func(n string) bool { return n == row })
			} else {
				names = append(names, row)
			}
		}
	}
	return strings.Join(names, ", "), nil
}

// stripHeader removes the comment lines at the top of a file: they document the operation
// for readers and would only cost parsing time.
func stripHeader(text string) string {
	for strings.HasPrefix(text, "--") {
		_, rest, _ := strings.Cut(text, "\n")
		text = rest
	}
	return strings.TrimSpace(text)
}
