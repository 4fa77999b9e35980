package engine

import (
	"cmp"
	"fmt"
	"strings"
)

// Dialect has the statements of a script that differ between engines.
type Dialect struct {
	First string // statements that have to be committed before everything else
	Begin string // statements before those of the migrations, for a schema that does not exist
	Path  string // statements that make names safe, and
	Unset string // that undo it
	End   string // behind every statement; default ";"
	Drop  func(o Object) string
	Note  func(m Migration) string
	Made  func(o Object) string
}

// Script returns the SQL that takes a schema from one version to another; see [Migrator].
func (f *Folder) Script(from, to int, d Dialect) (string, error) {
	newest := len(f.Migrations)
	if to == 0 {
		to = newest
	}
	switch {
	case from < 0 || from > newest:
		return "", Invalid("from", "%d: versions are 0 to %d", from, newest)
	case to < from || to > newest:
		return "", Invalid("to", "%d: versions from %d on are up to %d", to, from, newest)
	}
	var b strings.Builder
	write := func(texts ...string) {
		for _, text := range texts {
			if text = strings.TrimSpace(text); text != "" {
				b.WriteString(strings.TrimSuffix(text, ";") + cmp.Or(d.End, ";") + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "-- pawl's schema, from version %d to %d. Run it in one transaction", from, to)
	if d.First != "" {
		b.WriteString(", behind this:\n")
		write(d.First)
		b.WriteString("\n-- From here on in one transaction")
	}
	b.WriteString(".\n")
	write(d.Path)
	if from == 0 {
		write(d.Begin)
	}
	for _, m := range f.Migrations[from:to] {
		fmt.Fprintf(&b, "\n-- Version %d: %s\n", m.Version, m.Name)
		write(f.Names.Render(m.Text), d.Note(m))
	}
	if to == newest {
		b.WriteString("\n-- Routines and views\n")
		for _, o := range f.Objects {
			write(d.Drop(o), f.Names.Render(o.Text), d.Made(o))
		}
	}
	write(d.Unset)
	return b.String(), nil
}

// GooseFile formats a script as a file of goose; database is DB.Engine. Its down migration
// fails: it would lose messages, and without one goose would record the version as undone.
func GooseFile(script, database string) string {
	refusal := "INSERT INTO pawl_has_no_down_migrations VALUES (1);"
	if database == "postgres" {
		refusal = "DO $$ BEGIN RAISE EXCEPTION 'pawl has no down migrations, see docs/upgrading.md'; END $$;"
	}
	if database == "sqlserver" {
		refusal = "THROW 50000, 'pawl has no down migrations, see docs/upgrading.md', 1;"
	}
	part := func(name, text string) string {
		all := "-- +goose " + name + "\n"
		for batch := range strings.SplitSeq(text, "\nGO\n") { // which SQL Server knows nothing of
			if batch = strings.TrimSpace(batch); batch != "" {
				all += "-- +goose StatementBegin\n" + batch + "\n-- +goose StatementEnd\n"
			}
		}
		return all
	}
	return part("Up", script) + "\n" + part("Down", refusal)
}
