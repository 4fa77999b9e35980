package sqlserver_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
	"github.com/bravellian/pawl/sqlserver/internal/testmssql"
)

// place makes a place for the suite on the server that the environment names.
func place(t testing.TB) *enginetest.Place {
	pool := testmssql.Pool(t)
	schema := testmssql.Schema(t, pool)
	url, _ := testmssql.URL()
	return &enginetest.Place{
		Names:  engine.Names{Schema: schema},
		Claims: "outbox_claimed",
		Polls:  true,
		Open: func(t testing.TB, o enginetest.Options) engine.DB {
			db, err := sqlserver.Open(url, sqlserver.Options{Schema: schema, Prefix: o.Prefix, StatementTimeout: o.StatementTimeout})
			enginetest.Must(t, err)
			db.SQL().SetMaxOpenConns(4)
			t.Cleanup(func() { _ = db.Close() })
			return db
		},
		SQL:          pool,
		Pool:         func(db engine.DB) *sql.DB { return db.(*sqlserver.DB).SQL() },
		Drain:        drain,
		AddMigration: func(db engine.DB, text string) { sqlserver.AddMigration(db.(*sqlserver.DB), text) },
		SetObject: func(db engine.DB, kind, name, text string) {
			sqlserver.SetObject(db.(*sqlserver.DB), kind, name, text)
		},
	}
}

// drain takes all connections that a handle's pool has left.
func drain(t testing.TB, db engine.DB) (release func()) {
	t.Helper()
	pool := db.(*sqlserver.DB).SQL()
	var held []*sql.Conn
	for s := pool.Stats(); s.InUse < s.MaxOpenConnections; s = pool.Stats() {
		c, err := pool.Conn(context.Background())
		enginetest.Must(t, err)
		held = append(held, c)
	}
	return func() {
		for _, c := range held {
			_ = c.Close()
		}
	}
}

// The suite runs where there is a server; without one it has no subtest.
func TestConformanceOnSQLServer(t *testing.T) {
	if _, ok := testmssql.URL(); ok {
		enginetest.Run(t, place)
	} else {
		t.Skip("not run: " + testmssql.Variable + " is not set")
	}
}
