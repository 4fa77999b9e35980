package sqlite

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/engine"
)

// AddMigration makes db one of a newer build.
func AddMigration(db *DB, text string) {
	n := len(db.folder.Migrations) + 1
	db.folder.Migrations = append(db.folder.Migrations[:n-1:n-1], engine.Migration{Version: n, Name: "more", SQL: db.folder.Names.Render(text), Checksum: fmt.Sprint(text)})
}

// WriterPragma asks pawl's writing connection for one of its settings.
func (db *DB) WriterPragma(name string) (v int64, err error) {
	err = db.writer.use(context.Background(), func(s *session) error {
		s.ctx = context.Background()
		return s.query("PRAGMA "+name, nil, func(r engine.Row) error { return r.Scan(&v) })
	})
	return v, err
}

// Statement is the text of one of the folder's statements.
func Statement(db *DB, name string) string { return db.folder.Ops[name] }
