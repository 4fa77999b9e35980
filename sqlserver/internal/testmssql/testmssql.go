// Package testmssql gives tests places on a SQL Server, if there is one.
package testmssql

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	_ "github.com/microsoft/go-mssqldb" // the driver "sqlserver"

	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
)

const (
	// Variable names the environment variable with the sqlserver:// URL of a database to
	// test against. Without it there is nothing to test against: suites then have no
	// subtest for SQL Server, and "make test" says so.
	Variable = "PAWL_TEST_SQLSERVER"
	// Keep names the environment variable that, set to anything, leaves schemas for the next
	// run behind, which then need not be made.
	Keep = "PAWL_TEST_SQLSERVER_KEEP"
)

// connections is how many the tests of a process share.
const connections = 24

// URL is the database that the environment names; ok is false if it names none.
func URL() (url string, ok bool) {
	url = os.Getenv(Variable)
	return url, url != ""
}

// Pool opens the database and closes it with the test.
func Pool(t testing.TB) *sql.DB {
	t.Helper()
	pool := open(t)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// Shared is the pool that all tests of this process share. It ends with the process.
func Shared(t testing.TB) *sql.DB {
	t.Helper()
	shared.once.Do(func() {
		shared.pool = open(t)
		shared.pool.SetMaxOpenConns(connections)
		shared.pool.SetMaxIdleConns(connections)
	})
	return shared.pool
}

// shared and taken are what the tests of a process have in common.
var (
	shared struct {
		once sync.Once
		pool *sql.DB
	}
	taken places
)

func open(t testing.TB) *sql.DB {
	t.Helper()
	url, ok := URL()
	if !ok {
		t.Fatalf("%s is not set", Variable)
	}
	pool, err := sql.Open("sqlserver", url)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// Name returns the name of a schema that nobody else uses.
func Name() string { return prefix + strings.ReplaceAll(uuid.NewString(), "-", "") }

const prefix = "t_"

// Schema returns the name of a schema that nobody else uses. It and all that is in it is
// dropped when the test ends.
func Schema(t testing.TB, pool *sql.DB) string {
	t.Helper()
	name := Name()
	t.Cleanup(func() {
		if err := sqlserver.Drop(context.Background(), pool, name); err != nil {
			t.Errorf("drop schema %s: %v", name, err)
		}
	})
	return name
}
