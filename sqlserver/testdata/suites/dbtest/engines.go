package dbtest

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/sqlserver"
	"github.com/bravellian/pawl/sqlserver/sqlservertest"
)

// Engines are those that every suite runs on.
func Engines() []Engine {
	return []Engine{{"sqlite", OpenSQLite}, {"postgres", OpenPostgres}, {"sqlserver", openSQLServer}}
}

// openSQLServer returns a database in a schema that nobody else uses.
func openSQLServer(t testing.TB) Database {
	t.Helper()
	pool, schema, table := sqlservertest.Schema(access.Key{}, t)
	open := func(t testing.TB) engine.DB {
		t.Helper()
		db, err := sqlserver.New(pool, sqlserver.Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		own, _ := engine.As[engine.DB](db)
		return own
	}
	db := open(t)
	Migrate(t, db)
	return Database{DB: db, SQL: pool, Another: open, Table: table, Pass: time.Sleep} // the server's clock moves by itself
}
