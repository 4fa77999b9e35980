package pawltest_test

import "github.com/bravellian/pawl/pawltest"

// engines are those that every test runs on. "make test-sqlserver" builds with another file in
// the place of this one, sqlserver/testdata/suites/pawltest/engines_test.go.
func engines() map[string]opener {
	return map[string]opener{"sqlite": pawltest.New, "postgres": onPostgres}
}
