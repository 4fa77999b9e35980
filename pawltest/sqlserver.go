package pawltest

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlserver"
	"github.com/bravellian/pawl/internal/testmssql"
)

// SQLServer returns a database on the SQL Server that a sqlserver:// URL names, for one test:
// a schema of its own has pawl's tables, and is dropped when the test ends. Tables of the
// test's own are in the login's default schema. A server that cannot be reached fails the
// test.
func SQLServer(t testing.TB, url string, opts ...Options) *DB {
	t.Helper()
	o := options(t, opts)
	names := engine.Names{Schema: "pawltest_" + strings.ToLower(rand.Text()), Prefix: o.Prefix}
	db, err := sqlserver.Open(url, sqlserver.Options{Schema: names.Schema, Prefix: names.Prefix, StatementTimeout: migrateLimit})
	if err != nil {
		t.Fatalf("pawltest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dropLimit)
		defer cancel()
		if err := testmssql.Drop(ctx, db.SQL(), names.Schema); err != nil {
			t.Errorf("pawltest: schema %s stays on the server: has the test left a transaction open? %v", names.Schema, err)
		}
		_ = db.Close()
	})
	d := &DB{Engine: db, sql: db.SQL(), queries: sqlserverQueries(names)}
	d.Clock = &Clock{t: t, read: func() time.Time { return serverTime(t, db) }}
	d.build(t, o)
	return d
}
