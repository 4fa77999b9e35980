package dbtest

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlserver"
	"github.com/bravellian/pawl/internal/testmssql"
)

// OpenSQLServer returns a database in a schema that nobody else uses: a new one, or one that
// an earlier test left and that was emptied. To make one takes seconds, on some servers
// minutes.
func OpenSQLServer(t testing.TB) Database {
	t.Helper()
	pool := testmssql.Shared(t)
	schema := testmssql.Take(t, func(schema string) error { // is it this build's?
		db, err := sqlserver.New(pool, sqlserver.Options{Schema: schema})
		if err != nil {
			return err
		}
		return db.CheckSchema(context.Background()) // also when the test has ended
	})
	opts := sqlserver.Options{Schema: schema}
	db := SQLServerAt(t, opts)
	Migrate(t, db)
	return Database{
		DB: db, SQL: pool,
		Another: func(t testing.TB) engine.DB { return SQLServerAt(t, opts) },
		Table:   func(name string) string { return schema + "." + sqlserver.TableName(name) },
		Pass:    func(d time.Duration) { time.Sleep(d) }, // the server's clock moves by itself
	}
}

// SQLServerAt opens the test server, on connections that all tests of this process share: on
// a new one everything is parsed anew.
func SQLServerAt(t testing.TB, opts sqlserver.Options) *sqlserver.DB {
	t.Helper()
	return SQLServerOn(t, testmssql.Shared(t), opts)
}

// SQLServerOn opens the test server on a pool of the test's own.
func SQLServerOn(t testing.TB, pool *sql.DB, opts sqlserver.Options) *sqlserver.DB {
	t.Helper()
	db, err := sqlserver.New(pool, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
