// Package ncruces tests pawl with github.com/ncruces/go-sqlite3, which is SQLite by way
// of WebAssembly.
package ncruces

import (
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/driverstest/suite"
)

func leg(t *testing.T) suite.Leg {
	pool := suite.Pool(t, "sqlite3", "_txlock=immediate")
	db, err := anydriver.New(pool)
	return suite.Leg{
		DB: suite.Migrated(t, db, err), Transact: suite.Plain(pool),
		Outside: map[string]any{"a pool": pool, "a connection": suite.Connection(t, pool)},
	}
}

func TestNcruces(t *testing.T) {
	suite.Run(t, leg)
	t.Run("load", func(t *testing.T) { suite.Load(t, leg(t)) })
	t.Run("deferred", func(t *testing.T) {
		suite.Deferred(t, suite.Pool(t, "sqlite3", "_pragma=journal_mode(wal)"), anydriver.New)
	})
}
