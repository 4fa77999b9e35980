// Package dbtest gives tests fresh, migrated databases, the same on every
// engine: a component's suite is written once and run on each.
package dbtest

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
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// Engine gives a suite databases of one engine.
type Engine struct {
	Name string
	// Open returns a fresh, migrated database that is closed with the test.
	Open func(t testing.TB) Database
}

// EachEngine runs a test on every engine, side by side.
func EachEngine(t *testing.T, test func(t *testing.T, e Engine)) {
	t.Helper()
	for _, e := range Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// Each runs a test on every engine, side by side and beside the package's others.
func Each(t *testing.T, test func(t *testing.T, e Engine)) {
	t.Helper()
	t.Parallel()
	EachEngine(t, test)
}

// Named returns the engine of a name. The test is skipped where the suites do not run on it.
func Named(t testing.TB, name string) Engine {
	t.Helper()
	for _, e := range Engines() {
		if e.Name == name {
			return e
		}
	}
	t.Skipf("not run on %s: make test-%s does", name, name)
	return Engine{}
}

// Database is one database under test.
type Database struct {
	engine.DB
	// SQL is a pool over the same database for the test's own statements.
	SQL *sql.DB
	// Table returns the qualified name of one of pawl's tables or views.
	Table func(name string) string
	// Another opens the same database again, as another process would.
	Another func(t testing.TB) engine.DB
	// Pass lets the database's clock pass d.
	Pass func(d time.Duration)
}

// Unwrap returns the database.
func (d Database) Unwrap() engine.DB { return d.DB }

// Begin opens a transaction of the test's own.
func (d Database) Begin(t testing.TB) *sql.Tx {
	t.Helper()
	tx, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// Count reads one number through SQL.
func (d Database) Count(t testing.TB, query string) (n int) {
	t.Helper()
	d.Row(t, query, &n)
	return n
}

// CheckPlaces fails the test unless every message is in exactly one place.
func (d Database) CheckPlaces(t testing.TB) {
	t.Helper()
	claims := d.Table("outbox_claim")
	enginetest.CheckPlaces(t, &enginetest.Place{SQL: d.SQL, Names: d.names(), Claims: claims[strings.LastIndex(claims, ".")+1:]})
}

// Aside counts the parked messages: in a lane that no queue has.
func (d Database) Aside(t testing.TB) int {
	t.Helper()
	return d.Count(t, "SELECT coalesce(sum(n), 0) FROM "+d.Table("outbox_ready")+" WHERE lane NOT IN (SELECT id FROM "+d.Table("outbox_lane")+")")
}

// Row reads one row through SQL.
func (d Database) Row(t testing.TB, query string, dest ...any) {
	t.Helper()
	if err := d.SQL.QueryRowContext(t.Context(), query).Scan(dest...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// OpenSQLite returns a database whose clock the test moves.
func OpenSQLite(t testing.TB) Database {
	t.Helper()
	var ahead atomic.Int64
	opts := sqlite.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
	path := filepath.Join(t.TempDir(), "test.db")
	db := SQLiteAt(t, path, opts)
	Migrate(t, db)
	return Database{
		DB: db, SQL: db.SQL(),
		Another: func(t testing.TB) engine.DB { return SQLiteAt(t, path, opts) },
		Table:   func(name string) string { return name },
		Pass:    func(d time.Duration) { ahead.Add(int64(d)) },
	}
}

// SQLiteAt opens a file and closes it with the test.
func SQLiteAt(t testing.TB, path string, opts sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// OpenPostgres returns a database in a schema of its own.
func OpenPostgres(t testing.TB) Database {
	t.Helper()
	s, used := take()
	if !used {
		s = shelved{name: "t_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:30], conns: connect(t)}
	}
	opts := postgres.Options{Schema: s.name}
	pool := stdlib.OpenDBFromPool(s.conns)
	t.Cleanup(func() {
		giveBack(t, pool, s)
		_ = pool.Close()
	})
	db, err := postgres.New(s.conns, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if !used {
		patient, err := postgres.New(s.conns, postgres.Options{Schema: s.name, StatementTimeout: 5 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		Migrate(t, patient) // on a busy machine for longer than statements may take
		_ = patient.Close() // the pool is not its own
		if s.made, err = look(t.Context(), pool, s.name); err != nil {
			t.Fatal(err)
		}
	}
	return Database{
		DB: db, SQL: pool,
		Another: func(t testing.TB) engine.DB { return PostgresAt(t, opts) },
		Table:   func(name string) string { return opts.Schema + "." + name },
		Pass:    func(d time.Duration) { pass(t, pool, d) },
	}
}

// Schema returns the name of a migrated schema that no other test uses.
func Schema(t testing.TB) string {
	t.Helper()
	return strings.TrimSuffix(OpenPostgres(t).Table(""), ".")
}

// connect makes a pool on the test server.
func connect(t testing.TB) *pgxpool.Pool {
	t.Helper()
	conns, err := pgxpool.New(context.Background(), testpg.With(testpg.URL(t), "pool_max_conns=8"))
	if err != nil {
		t.Fatal(err)
	}
	return conns
}

// RepeatableRead gives databases of PostgreSQL whose default isolation level, but for
// the test's own statements, is repeatable read.
func RepeatableRead() Engine {
	return Engine{"postgres", func(t testing.TB) Database {
		t.Helper()
		d := OpenPostgres(t)
		opts := postgres.Options{Schema: strings.TrimSuffix(d.Table(""), ".")}
		d.Another = func(t testing.TB) engine.DB {
			return postgresAt(t, opts, "default_transaction_isolation=repeatable%20read")
		}
		d.DB = d.Another(t)
		return d
	}}
}

// PostgresAt opens the test server and closes it with the test.
func PostgresAt(t testing.TB, opts postgres.Options) *postgres.DB {
	t.Helper()
	return postgresAt(t, opts)
}

func postgresAt(t testing.TB, opts postgres.Options, parameters ...string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(testpg.With(testpg.URL(t), append(parameters, "pool_max_conns=8")...), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Migrate brings the schema up to date.
func Migrate(t testing.TB, db engine.DB) {
	t.Helper()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func drop(t testing.TB, pool *sql.DB, schema string) {
	if _, err := pool.ExecContext(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
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

// Earlier is an expression of the engine's SQL: a time that lies so long before the one of
// an expression.
func (d Database) Earlier(time string, by time.Duration) string {
	switch d.Engine() {
	case "sqlite":
		return fmt.Sprintf("%s - %d", time, by.Microseconds())
	case "sqlserver":
		const day = 24 * 3600 * 1e6
		return fmt.Sprintf("DATEADD(microsecond, %d, DATEADD(second, %d, DATEADD(day, %d, %s)))", -by.Microseconds()%1e6, -by.Microseconds()/1e6%86400, -by.Microseconds()/day, time)
	}
	return fmt.Sprintf("%s - make_interval(secs => %f)", time, by.Seconds())
}

// Notifies reports whether commits of one process wake the workers of others; otherwise they
// poll.
func (d Database) Notifies() bool { return d.Engine() != "sqlserver" }

// Clock is an expression of a server's SQL: the time that its clock has.
func (d Database) Clock() string {
	return map[string]string{"postgres": "clock_timestamp()", "sqlserver": "SYSUTCDATETIME()"}[d.Engine()]
}

// Ago is an expression of the engine's SQL: the time so long before now.
func (d Database) Ago(by time.Duration) string {
	if d.Engine() == "sqlite" {
		return fmt.Sprint(time.Now().Add(-by).UnixMicro())
	}
	return d.Earlier(d.Clock(), by)
}

// Until waits for a condition that other goroutines bring about. It gives up late: beside
// other packages under the race detector, what takes 3 s alone took 35 s.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	UntilWithin(t, 2*time.Minute, what, ok)
}

// UntilWithin is Until for what may take longer.
func UntilWithin(t testing.TB, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(d); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting until %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
