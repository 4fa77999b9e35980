package postgres

import (
	"fmt"

	"github.com/bravellian/pawl/engine"
)

// AddMigration makes db one of a newer build.
func AddMigration(db *DB, text string) {
	n := len(db.folder.Migrations) + 1
	db.folder.Migrations = append(db.folder.Migrations[:n-1:n-1], engine.Migration{Version: n, Name: "more", SQL: db.folder.Names.Render(text), Checksum: fmt.Sprint(text)})
}

// AddOperation gives db an operation of a test's own.
func AddOperation(db *DB, op, text string) { db.folder.Ops[op] = db.folder.Names.Render(text) }
