package suite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// Pool opens a new file with a driver, and makes the table of the program's own. The
// data source's name ends with the path and what every driver understands.
func Pool(t *testing.T, driver, params string) *sql.DB {
	t.Helper()
	pool, err := sql.Open(driver, "file:"+filepath.Join(t.TempDir(), "shop.db")+"?"+params)
	Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	_, err = pool.ExecContext(t.Context(), "CREATE TABLE orders (id INTEGER PRIMARY KEY)")
	Must(t, err)
	return pool
}

// Migrated migrates a database and closes it with the test.
func Migrated(t *testing.T, db engine.DB, err error) engine.DB {
	t.Helper()
	Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	Must(t, db.Migrate(t.Context()))
	return db
}

// Connection is a connection of the pool on which no transaction is open.
func Connection(t *testing.T, pool *sql.DB) *sql.Conn {
	t.Helper()
	conn, err := pool.Conn(t.Context())
	Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Deferred is a pool whose transactions begin deferred, which pawl refuses.
func Deferred[DB any, O any](t *testing.T, pool *sql.DB, open func(*sql.DB, ...O) (DB, error)) {
	if _, err := open(pool); err == nil || !strings.Contains(err.Error(), "_txlock=immediate") {
		t.Errorf("a pool whose transactions are deferred: %v", err)
	}
}
