package sqlserver

import (
	"cmp"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Texts are the statements by the texts that are sent for them, in a transaction of pawl's
// own and in a caller's. A server of tests knows by these what it is asked for.
func Texts(opts ...Options) (map[string]*engine.Statement, error) {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	folder, err := engine.Load(folder(), engine.Names{Schema: cmp.Or(o.Schema, defaultSchema), Prefix: o.Prefix})
	if err != nil {
		return nil, err
	}
	return (&DB{folder: folder, opts: o}).Texts(), nil
}

// Texts are those of a database's own names.
func (db *DB) Texts() map[string]*engine.Statement {
	all := map[string]*engine.Statement{}
	for _, s := range db.folder.Statements() {
		t := db.textOf(s)
		all[unquoteText(t.own)], all[unquoteText(t.foreign)] = s, s
	}
	return all
}

// unquoteText is the text of a literal that quoteText wrote.
func unquoteText(literal string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(literal, "N'"), "'"), "''", "'")
}
