package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

var schemas atomic.Int64

// schema returns a name that no other test uses; the schema is dropped when
// the test ends.
func schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("engine_%x_%d", enginetest.Token(), schemas.Add(1))[:30] + fmt.Sprint(schemas.Load())
	t.Cleanup(func() { admin(t, `DROP SCHEMA IF EXISTS "`+name+`" CASCADE`) })
	return name
}

// admin runs statements as the server's superuser.
func admin(t testing.TB, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// with adds parameters to a connection string.
func with(url string, params ...string) string { return testpg.With(url, params...) }

// open opens a handle and closes it when the test ends.
func open(t testing.TB, url string, o postgres.Options) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(url, o)
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

// place makes places for the suite on the server that a URL names. Those that begin with a migration take a schema
// that another test has given back: to make one costs the server 0.25 s of processor time.
func place(params ...string) func(t testing.TB) *enginetest.Place {
	return func(t testing.TB) *enginetest.Place {
		url, opened := with(testpg.URL(t), "pool_max_conns=4"), false
		sqlDB, err := sql.Open("pgx", testpg.URL(t))
		enginetest.Must(t, err)
		t.Cleanup(func() { _ = sqlDB.Close() })
		var p *enginetest.Place
		p = &enginetest.Place{
			Names: engine.Names{Schema: schema(t)},
			Take: func() {
				if !opened {
					p.Names.Schema = dbtest.Schema(t)
				}
			},
			Open: func(t testing.TB, o enginetest.Options) engine.DB {
				opened = true
				return open(t, with(url, params...), postgres.Options{Schema: p.Names.Schema, Prefix: o.Prefix, StatementTimeout: o.StatementTimeout})
			},
			SQL:          sqlDB,
			Pool:         func(db engine.DB) *sql.DB { return pool(t, db.(*postgres.DB)) },
			Drain:        drain,
			AddMigration: func(db engine.DB, text string) { postgres.AddMigration(db.(*postgres.DB), text) },
			SetObject: func(db engine.DB, kind, name, text string) {
				postgres.SetObject(db.(*postgres.DB), kind, name, strings.Replace(text, "CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
			},
		}
		return p
	}
}

// pool is a handle's pool as database/sql sees it.
func pool(t testing.TB, db *postgres.DB) *sql.DB {
	p := stdlib.OpenDBFromPool(db.Pool())
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// drain takes all connections that a handle's pool has left.
func drain(t testing.TB, db engine.DB) (release func()) {
	t.Helper()
	p := db.(*postgres.DB).Pool()
	var held []*pgxpool.Conn
	for p.Stat().AcquiredConns() < p.Stat().MaxConns() {
		c, err := p.Acquire(context.Background())
		enginetest.Must(t, err)
		held = append(held, c)
	}
	return func() {
		for _, c := range held {
			c.Release()
		}
	}
}

func TestConformance(t *testing.T) { enginetest.Run(t, place()) }

// OBX-100, D-6: everything works without prepared statements, too, as it has
// to behind a connection pooler.
func TestConformanceWithoutPreparedStatements(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) { enginetest.Run(t, place("default_query_exec_mode="+mode)) })
	}
}
