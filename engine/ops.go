package engine

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Folder is an engine's SQL, rendered under the configured names.
type Folder struct {
	Names      Names
	Ops        map[string]string // operation → statement
	Migrations []Migration
	Objects    []Object
}

// Load validates the names and reads a folder of SQL: operations, the migrations
// below schema, and the routines and views.
func Load(files fs.FS, n Names) (*Folder, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	ops, err := LoadOps(files, n)
	if err != nil {
		return nil, err
	}
	migrations, err := LoadMigrations(files, n)
	if err != nil {
		return nil, err
	}
	objects, err := LoadObjects(files, n)
	if err != nil {
		return nil, err
	}
	return &Folder{n, ops, migrations, objects}, nil
}

// LoadOps reads every operation below root in files and renders it: the
// operation "outbox/claim" is the file root/outbox/claim.sql. The folders of the
// schema and of rights hold none. In a text pawl.tables() stands for the names of all
// tables, as rows of VALUES.
func LoadOps(files fs.FS, n Names) (map[string]string, error) {
	ops := map[string]string{}
	tables, err := tablesOf(files)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".sql" || slices.Contains([]string{"schema", "grants", Routines, Views}, path.Dir(name)) {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		ops[strings.TrimSuffix(name, ".sql")] = n.Render(strings.ReplaceAll(stripHeader(string(text)), "pawl.tables()", tables))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load operations: %w", err)
	}
	return ops, nil
}

var tableMade = regexp.MustCompile(`(?m)^(CREATE|DROP) TABLE pawl\.(\w+)`)

// tablesOf lists the tables that the migrations make and keep, as rows of VALUES.
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
		for _, m := range tableMade.FindAllStringSubmatch(string(text), -1) {
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

// stripHeader drops the comment lines that open a file: they document the
// operation's contract for readers and would only cost parsing time.
func stripHeader(text string) string {
	for strings.HasPrefix(text, "--") {
		_, rest, _ := strings.Cut(text, "\n")
		text = rest
	}
	return strings.TrimSpace(text)
}
