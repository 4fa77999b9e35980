package anydriver

import (
	"context"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/internal/enginetest"
)

// SetObject makes db one of another build, whose routine or view has this text, or
// which has none if the text is empty.
func SetObject(db *DB, kind, name, text string) {
	db.folder.Objects = enginetest.With(db.folder, kind, name, text)
}

// AddMigration makes db one of a newer build.
func AddMigration(db *DB, text string) {
	db.folder.Migrations = enginetest.Next(db.folder, text)
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

// Classify names the class of a driver's error.
func Classify(err error) error { return classify(err) }

// Files are all of the folder's statements.
func Files(db *DB) map[string]string { return db.folder.Ops }

// Answered reports whether an operation is answered in Go.
func Answered(op string) bool { return operation(op) != nil }

// Statements are those that are bound to operations.
func Statements(db *DB) []*engine.Statement { return db.folder.Statements() }
