package postgres

import (
	"fmt"

	"github.com/bravellian/pawl/engine"
)

// AddMigration makes db one of a newer build.
func AddMigration(db *DB, text string) {
	n := len(db.schema) + 1
	db.schema = append(db.schema[:n-1:n-1], engine.Migration{Version: n, Name: "more", SQL: db.names.Render(text), Checksum: fmt.Sprint(text)})
}
