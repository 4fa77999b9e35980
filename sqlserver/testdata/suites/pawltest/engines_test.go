package pawltest_test

import (
	"os"
	"testing"

	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/sqlserver/sqlservertest"
)

// engines are those that every test runs on.
func engines() map[string]opener {
	return map[string]opener{"sqlite": pawltest.New, "postgres": onPostgres, "sqlserver": onSQLServer}
}

func onSQLServer(t testing.TB, opts ...pawltest.Options) *pawltest.DB {
	t.Helper()
	return sqlservertest.New(t, os.Getenv("PAWL_TEST_SQLSERVER"), opts...)
}
