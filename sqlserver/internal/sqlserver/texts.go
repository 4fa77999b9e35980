package sqlserver

import (
	"cmp"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Texts returns the statements by the texts that are sent for them, in transactions of
// pawl's own and in a caller's. The tests' server recognizes operations by these.
func Texts(opts ...Options) (map[string]*engine.Statement, error) {
	o, err := engine.Option(opts)
	if err != nil {
		return nil, err
	}
	folder, err := (*engine.Library)(nil).Folder("sqlserver", engine.Names{Schema: cmp.Or(o.Schema, defaultSchema), Prefix: o.Prefix}, texts)
	if err != nil {
		return nil, err
	}
	return (&DB{folder: folder, opts: o}).Texts(), nil
}

// Texts returns those of a database's own names.
func (db *DB) Texts() map[string]*engine.Statement {
	all := map[string]*engine.Statement{}
	for _, s := range db.folder.Statements() {
		t := db.textOf(s)
		all[unquoteText(t.own)], all[unquoteText(t.foreign)] = s, s
	}
	return all
}

// unquoteText returns the text of a literal that quoteText wrote.
func unquoteText(literal string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(literal, "N'"), "'"), "''", "'")
}
