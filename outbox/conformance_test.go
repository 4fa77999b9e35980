package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/postgres"
	"github.com/bravellian/pawl/engine/sqlite"
	"github.com/bravellian/pawl/internal/outboxtest"
	"github.com/bravellian/pawl/internal/testpg"
)

func TestConformanceOnSQLite(t *testing.T) {
	t.Parallel()
	outboxtest.Run(t, outboxtest.Engine{Name: "sqlite", Open: openSQLite})
}

func TestConformanceOnPostgres(t *testing.T) {
	t.Parallel()
	outboxtest.Run(t, outboxtest.Engine{Name: "postgres", Open: openPostgres})
}

// openSQLite returns a database whose clock the test moves.
func openSQLite(t testing.TB) outboxtest.Database {
	t.Helper()
	var ahead atomic.Int64
	opts := sqlite.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
	path := filepath.Join(t.TempDir(), "test.db")
	another := func(t testing.TB) engine.DB { return sqliteAt(t, path, opts) }
	db := sqliteAt(t, path, opts)
	migrate(t, db)
	return outboxtest.Database{
		DB: db, SQL: db.SQL(), Another: another,
		Table: func(name string) string { return name },
		Pass:  func(d time.Duration) { ahead.Add(int64(d)) },
	}
}

func sqliteAt(t testing.TB, path string, opts sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// openPostgres returns a database in a schema of its own.
func openPostgres(t testing.TB) outboxtest.Database {
	t.Helper()
	opts := postgres.Options{Schema: "t_" + strings.ReplaceAll(uuid.NewString(), "-", "")}
	another := func(t testing.TB) engine.DB { return postgresAt(t, opts) }
	db := postgresAt(t, opts)
	migrate(t, db)
	pool := stdlib.OpenDBFromPool(db.Pool())
	t.Cleanup(func() {
		drop(t, pool, opts.Schema)
		_ = pool.Close()
	})
	return outboxtest.Database{
		DB: db, SQL: pool, Another: another,
		Table: func(name string) string { return opts.Schema + "." + name },
		Pass:  func(d time.Duration) { pass(t, pool, d) },
	}
}

func postgresAt(t testing.TB, opts postgres.Options) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(testpg.URL(t)+"&pool_max_conns=8", opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func migrate(t testing.TB, db engine.DB) {
	t.Helper()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func drop(t testing.TB, pool *sql.DB, schema string) {
	if _, err := pool.ExecContext(context.Background(), "DROP SCHEMA "+schema+" CASCADE"); err != nil {
		t.Error(err)
	}
}

// pass has the server say when its clock has moved on.
func pass(t testing.TB, pool *sql.DB, d time.Duration) {
	t.Helper()
	if _, err := pool.ExecContext(t.Context(), fmt.Sprintf("SELECT pg_sleep(%f)", d.Seconds())); err != nil {
		t.Fatal(err)
	}
}
