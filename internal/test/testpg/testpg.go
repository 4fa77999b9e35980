// Package testpg gives tests a PostgreSQL server.
package testpg

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/pgcluster"
)

// Variable names the environment variable with the connection string of a
// server to test against, instead of a private one.
const Variable = "PAWL_TEST_POSTGRES"

// startPatience includes the installation of PostgreSQL on a fresh machine.
const startPatience = 5 * time.Minute

// URL is the connection string of a server for tests: the one that the
// environment names, else a private one that all tests of this process share.
// Tests isolate themselves with a database or a schema each. A test never
// passes for want of a server: it fails. Connections are not encrypted unless the
// environment's URL says otherwise: the proxies of tests read what they pass on.
func URL(t testing.TB) string {
	t.Helper()
	if url := os.Getenv(Variable); url != "" {
		if !strings.Contains(url, "sslmode=") {
			return With(url, "sslmode=disable")
		}
		return url
	}
	c, err := private()
	if err != nil {
		t.Fatalf("no PostgreSQL to test against: %s is not set, and a private server did not start: %v", Variable, err)
	}
	return c.URL()
}

// private is the one package variable: a server takes seconds to start, and
// the tests of a process have nothing else in common that could own it. Nobody
// stops it. It stops when the process ends, which is the promise of pgcluster;
// until then this variable keeps it reachable.
var private = sync.OnceValues(start)

// start gives up what only matters when a machine loses power, since the data
// dies with the test. What concurrent sessions see of each other's commits
// stays as it is: synchronous_commit is left on.
func start() (*pgcluster.Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	return pgcluster.Start(ctx, pgcluster.Options{
		Settings: map[string]string{"fsync": "off", "full_page_writes": "off"},
		Log:      os.Stderr,
	})
}

// With adds parameters, name=value, to a connection string, whether it has some
// already or not.
func With(url string, params ...string) string {
	sep := "?"
	if strings.Contains(url, "?") {
		sep = "&"
	}
	return url + sep + strings.Join(params, "&")
}
