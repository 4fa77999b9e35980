package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/testpg"
)

// schemaOfTests is no default, so that a test fails if something uses the default.
const schemaOfTests = "t_pawl"

// OpenPostgres returns a database of its own, a copy of one that is migrated.
func OpenPostgres(t testing.TB) Database {
	t.Helper()
	url := copyOf(t, migrated(t))
	opts := postgres.Options{Schema: schemaOfTests}
	db := postgresAt(t, url, opts)
	pool := stdlib.OpenDBFromPool(db.Pool())
	t.Cleanup(func() { _ = pool.Close() })
	return Database{
		DB: db, SQL: pool, URL: url, Schema: opts.Schema,
		Another: func(t testing.TB) engine.DB { return postgresAt(t, url, opts) },
		Table:   func(name string) string { return opts.Schema + "." + name },
		Pass:    func(d time.Duration) { pass(t, pool, d) },
	}
}

// RepeatableRead gives databases of PostgreSQL whose default isolation level, but for
// the test's own statements, is repeatable read.
func RepeatableRead() Engine {
	return Engine{"postgres", func(t testing.TB) Database {
		t.Helper()
		d := OpenPostgres(t)
		d.Another = func(t testing.TB) engine.DB {
			return postgresAt(t, testpg.With(d.URL, "default_transaction_isolation=repeatable%20read"), postgres.Options{Schema: d.Schema})
		}
		d.DB = d.Another(t)
		return d
	}}
}

// PostgresAt opens the test server's own database and closes it with the test.
func PostgresAt(t testing.TB, opts postgres.Options) *postgres.DB {
	t.Helper()
	return postgresAt(t, testpg.URL(t), opts)
}

// Reopen opens the database of a test on PostgreSQL with options of its own.
func (d Database) Reopen(t testing.TB, opts postgres.Options) *postgres.DB {
	t.Helper()
	opts.Schema = d.Schema
	return postgresAt(t, d.URL, opts)
}

func postgresAt(t testing.TB, url string, opts postgres.Options) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(testpg.With(url, "pool_max_conns=8"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// pass has the server say when its clock has moved on.
func pass(t testing.TB, pool *sql.DB, d time.Duration) {
	t.Helper()
	if _, err := pool.ExecContext(t.Context(), fmt.Sprintf("SELECT pg_sleep(%f)", d.Seconds())); err != nil {
		t.Fatal(err)
	}
}

// templateMade is true once this process has seen the template: all its tests copy one.
var templateMade struct {
	sync.Mutex
	ok bool
}

// migrated returns the name of a database that this build has migrated, for others to copy:
// that takes a tenth of a migration's time. Processes that test on one server share it. It
// has the schema's text in its name and stays, as the server's next tests want it.
func migrated(t testing.TB) string {
	t.Helper()
	script, err := postgres.Script(0, 0, postgres.Options{Schema: schemaOfTests})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("pawl_template_%x", sha256.Sum256([]byte(script)))[:40]
	templateMade.Lock()
	defer templateMade.Unlock()
	if !templateMade.ok {
		makeTemplate(t, name)
		templateMade.ok = true
	}
	return name
}

// makeTemplate makes the template unless it is there. It has another name until it is whole.
func makeTemplate(t testing.TB, name string) {
	t.Helper()
	server := connect(t, testpg.URL(t))
	defer server.Close(context.Background())
	exec(t, server, "SELECT pg_advisory_lock(hashtextextended('pawl.test.template', 0))")
	var there bool
	if err := server.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if there {
		return
	}
	raw := name + "_raw"
	exec(t, server, "DROP DATABASE IF EXISTS "+raw)
	exec(t, server, "CREATE DATABASE "+raw)
	db, err := postgres.Open(named(t, raw), postgres.Options{Schema: schemaOfTests})
	if err != nil {
		t.Fatal(err)
	}
	Migrate(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	exec(t, server, "ALTER DATABASE "+raw+" RENAME TO "+name)
}

// copyOf returns the URL of a copy of a database, which is dropped with the test.
func copyOf(t testing.TB, template string) string {
	t.Helper()
	server := connect(t, testpg.URL(t))
	defer server.Close(context.Background())
	name := "t_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	exec(t, server, "CREATE DATABASE "+name+" TEMPLATE "+template)
	t.Cleanup(func() {
		server := connect(t, testpg.URL(t))
		defer server.Close(context.Background())
		exec(t, server, "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return named(t, name)
}

// named is the test server's URL with another database.
func named(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + database
	return u.String()
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// exec runs a statement, also when the test has ended.
func exec(t testing.TB, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
