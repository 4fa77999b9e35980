package sqlserver

import "github.com/bravellian/pawl/internal/test/enginetest"

// SetObject makes db one of another build, whose routine or view has this text, or
// which has none if the text is empty.
func SetObject(db *DB, kind, name, text string) {
	db.folder.Objects = enginetest.With(db.folder, kind, name, text)
}

// AddMigration makes db one of a newer build.
func AddMigration(db *DB, text string) {
	db.folder.Migrations = enginetest.Next(db.folder, text)
}
