package metrics_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
)

// D-110: a PostgreSQL database is asked for backlog, counts and limits in one round trip.
func TestPostgresIsAskedInOneRequest(t *testing.T) {
	t.Parallel()
	d, proxy := dbtest.OpenPostgres(t), proxytest.New(t, testpg.URL(t))
	db, err := postgres.Open(proxy.URL(testpg.URL(t)), postgres.Options{Schema: strings.TrimSuffix(d.Table(""), ".")})
	check(t, err)
	t.Cleanup(func() { _ = db.Close() })
	f := on(t, d, db, pawl.Options{}, metrics.Options{})
	f.enqueue(outbox.Message{Topic: "t"})
	f.gather() // connects, and prepares statements
	var trips []int
	for range 20 { // a connection that rested for a second is tested first, which is another trip
		before := proxy.RoundTrips()
		f.gather().has(t, series{`pawl_messages{queue="default",state="ready",topic="t"}`: 1})
		if trips = append(trips, proxy.RoundTrips()-before); trips[len(trips)-1] == 1 {
			return
		}
	}
	t.Errorf("collections took %v round trips, want 1", trips)
}
