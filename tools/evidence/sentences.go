package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// place is where a sentence says how far SQL Server is supported: between two texts.
type place struct{ file, before, after string }

func places() []place {
	return []place{
		{"README.md", "([SQL Server](docs/sqlserver.md) is ", ".)"},
		{"docs/sqlserver.md", "**SQL Server is ", ".**"},
		{"docs/support.md", "| SQL Server | 2016 and later, Azure SQL | [", "](evidence/sqlserver.md); "},
		{"docs/v1.md", "- **SQL Server** (`pawl/sqlserver`), [", "](evidence/sqlserver.md). "},
		{"cmd/pawl/cli.go", "\nSQL Server is ", ".\n"},
		{"sqlserver/sqlserver.go", "\n// The package is ", ".\n"},
		{"sqlserver/sqlserver.go", "\n// SQL Server is ", ".\n"},
	}
}

// sentences compares what the places say with what the file allows, or writes it there.
func sentences(root string, update bool) error {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return err
	}
	rows, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var failures []error
	for _, p := range places() {
		failures = append(failures, p.check(root, status(rows), update))
	}
	return errors.Join(failures...)
}

// check compares what one place says.
func (p place) check(root, want string, update bool) error {
	name := filepath.Join(root, p.file)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(text), p.before)
	got, tail, ended := strings.Cut(rest, p.after)
	switch {
	case !found || !ended:
		return fmt.Errorf("%s: nothing between %q and %q", p.file, p.before, p.after)
	case got == want:
		return nil
	case update:
		return os.WriteFile(name, []byte(head+p.before+want+p.after+tail), 0o644)
	}
	return fmt.Errorf("%s: says %q; %s allows %q (go run ./tools/evidence -update)", p.file, got, file, want)
}
