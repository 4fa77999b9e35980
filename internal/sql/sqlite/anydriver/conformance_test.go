package anydriver_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// file is an empty file as a place for the suite.
func file(t testing.TB) *enginetest.Place {
	path := filepath.Join(t.TempDir(), "pawl.db")
	return &enginetest.Place{
		Open: func(t testing.TB, o enginetest.Options) engine.DB {
			return open(t, path, sqlite.Options{Prefix: o.Prefix, StatementTimeout: o.StatementTimeout})
		},
		SQL:          open(t, path).SQL(),
		Pool:         func(db engine.DB) *sql.DB { return db.(*sqlite.DB).SQL() },
		AddMigration: func(db engine.DB, text string) { sqlite.AddMigration(db.(*sqlite.DB), text) },
		SetObject:    func(db engine.DB, kind, name, text string) { sqlite.SetObject(db.(*sqlite.DB), kind, name, text) },
	}
}

// open opens a handle and closes it when the test ends.
func open(t testing.TB, path string, o ...sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestConformance(t *testing.T) { enginetest.Run(t, file) }
