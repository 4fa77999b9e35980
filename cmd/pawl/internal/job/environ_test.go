package job_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
)

// D-5: a command gets no database's name that may hold a password, unless that is
// asked for.
func TestEnviron(t *testing.T) {
	hidden := map[string]string{
		"PAWL_DB": "sqlite:x.db", "PAWL_FLEET": "table:postgres://u:p@h/d", "PAWL_TEST_POSTGRES": "host=h PASSWORD=x", "PAWL_ANY": "mysql://h",
	}
	shown := map[string]string{"PAWL_SCHEMA": "s", "PAWL_LEASE_NAME": "n", "DATABASE_URL": "postgres://u:p@h/d", "PAWL_ACTOR": "me@corp", "PAWL_FLEET_QUERY": "SELECT 1"}
	for _, vars := range []map[string]string{hidden, shown} {
		for name, value := range vars {
			t.Setenv(name, value)
		}
	}
	has := func(environ []string, name string) bool {
		return slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	for name := range hidden {
		if has(job.Environ(false), name) || !has(job.Environ(true), name) {
			t.Errorf("%s is not hidden, or not shown when asked for", name)
		}
	}
	for name := range shown {
		if !has(job.Environ(false), name) || !has(job.Environ(true), name) {
			t.Errorf("%s is hidden", name)
		}
	}
}
