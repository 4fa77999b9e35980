// Package sqlservertest is package pawltest on SQL Server: for programs that test code of
// their own which uses pawl there. Like package sqlserver it is a preview.
package sqlservertest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
	"github.com/bravellian/pawl/sqlserver/internal/testmssql"
)

const (
	// migrateLimit bounds each batch of the migration.
	migrateLimit = time.Minute
	// dropLimit bounds the clean-up.
	dropLimit = 20 * time.Second
)

// New returns a database on the SQL Server that a sqlserver:// URL names, for one test:
// a schema of its own has pawl's tables, and is dropped when the test ends. Tables of the
// test's own are in the login's default schema. A server that cannot be reached fails the
// test.
func New(t testing.TB, url string, opts ...pawltest.Options) *pawltest.DB {
	t.Helper()
	o, err := engine.Option(opts)
	if err != nil {
		t.Fatal(err)
	}
	names := engine.Names{Schema: "pawltest_" + strings.ToLower(rand.Text()), Prefix: o.Prefix}
	db, err := sqlserver.Open(url, sqlserver.Options{Schema: names.Schema, Prefix: names.Prefix, StatementTimeout: migrateLimit})
	if err != nil {
		t.Fatalf("sqlservertest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dropLimit)
		defer cancel()
		if err := db.DropSchema(ctx, access.Key{}); err != nil {
			t.Errorf("sqlservertest: schema %s stays on the server: has the test left a transaction open? %v", names.Schema, err)
		}
		_ = db.Close()
	})
	return pawltest.On(access.Key{}, t, db, db.SQL(), names, o)
}

// Schema is for pawl's own suites; programs cannot call it. It returns a schema that nobody
// else uses, on the server that PAWL_TEST_SQLSERVER names: a new one, or one that an earlier
// test left and that was emptied. To make one takes seconds, on some servers minutes. All
// tests of a process share the pool: on a new connection everything is parsed anew. table
// returns the qualified name of one of pawl's tables.
func Schema(_ access.Key, t testing.TB) (pool *sql.DB, schema string, table func(name string) string) {
	t.Helper()
	pool = testmssql.Shared(t)
	schema = testmssql.Take(t, func(schema string) error { // is it this build's?
		db, err := sqlserver.New(pool, sqlserver.Options{Schema: schema})
		if err != nil {
			return err
		}
		return db.CheckSchema(context.Background()) // also when the test has ended
	})
	return pool, schema, func(name string) string { return schema + "." + sqlserver.TableName(name) }
}
