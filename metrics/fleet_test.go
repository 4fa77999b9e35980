package metrics_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
)

// openFleet is a fleet of a file, a database on the server, and one that cannot be
// reached, with its metrics.
func openFleet(t *testing.T, opts metrics.Options) (*fleet.Fleet, *metrics.Collector) {
	t.Helper()
	schema := "t_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	t.Cleanup(func() {
		db := dbtest.PostgresAt(t, postgres.Options{})
		if _, err := db.Pool().Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	list := fleet.Static(
		fleet.Database{Key: "file", URL: "sqlite:" + filepath.Join(t.TempDir(), "store.db")},
		fleet.Database{Key: "server", URL: testpg.URL(t), Schema: schema},
		fleet.Database{Key: "sick", URL: "sqlite:" + filepath.Join(t.TempDir(), "nowhere", "store.db")},
	)
	f, err := fleet.New(list, fleet.Options{
		Engines: map[string]fleet.Opener{"postgres": postgres.OpenURL, "sqlite": sqlite.OpenURL},
		Pawl:    pawl.Options{EnableSchemaDeployment: true, Logger: slog.New(slog.DiscardHandler)},
		PollMin: time.Millisecond, PollMax: 10 * time.Millisecond, PollFiles: 10 * time.Millisecond,
	})
	check(t, err)
	t.Cleanup(func() { _ = f.Close() })
	opts.MinInterval, opts.Timeout = time.Nanosecond, time.Minute
	m, err := metrics.NewFleet(f, opts)
	check(t, err)
	return f, m
}

func start(t *testing.T, f *fleet.Fleet) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		check(t, <-ended)
	})
}

// Each store of a fleet is told apart, the sick one included.
func TestFleet(t *testing.T) {
	f, m := openFleet(t, metrics.Options{})
	f.Handle("t", nothing)
	start(t, f)
	both := &fixture{t: t, metrics: m}
	both.until(`pawl_store_up{store="file"}`, 1)
	both.until(`pawl_store_up{store="server"}`, 1)
	for key, n := range map[string]int{"file": 2, "server": 3} {
		s, err := f.Operator(access.Key{}).Store(t.Context(), key)
		check(t, err)
		_, err = s.Pawl.Outbox.EnqueueBatch(t.Context(), append(many(n, outbox.Message{Topic: "t"}), outbox.Message{Topic: "later", Due: time.Now().Add(time.Hour)}))
		check(t, err)
	}
	both.until(`pawl_attempts_total{outcome="acked",queue="default",store="file",topic="t"}`, 2)
	both.until(`pawl_attempts_total{outcome="acked",queue="default",store="server",topic="t"}`, 3)
	both.until(`pawl_messages{queue="default",state="scheduled",store="file",topic="later"}`, 1)
	both.until(`pawl_messages{queue="default",state="scheduled",store="server",topic="later"}`, 1)
	both.until(`pawl_stores{state="failing"}`, 1)
	got := both.gather()
	got.has(t, series{
		`pawl_messages_enqueued_total{queue="default",store="file",topic="t"}`:   2,
		`pawl_messages_enqueued_total{queue="default",store="server",topic="t"}`: 3,
		`pawl_handler_duration_seconds{topic="t"}`:                               5,
		`pawl_store_up{store="file"}`:                                            1,
		`pawl_store_up{store="sick"}`:                                            0,
		`pawl_connections_max`:                                                   80,
		`pawl_handlers_max`:                                                      256,
	})
	if stores := got[`pawl_stores{state="idle"}`] + got[`pawl_stores{state="active"}`] + got[`pawl_stores{state="waiting"}`]; stores != 2 {
		t.Errorf("%v stores are well, want 2", stores)
	}
	if _, there := got[`pawl_messages{queue="default",state="ready",store="sick",topic="t"}`]; there {
		t.Error("a store that fails has a backlog")
	}
}

// Stores that are too many are counted as one, and their databases are not asked.
func TestStoresAreBounded(t *testing.T) {
	f, m := openFleet(t, metrics.Options{MaxStores: 1})
	for i, key := range []string{"server", "file"} {
		s, err := f.Operator(access.Key{}).Store(t.Context(), key)
		check(t, err)
		check(t, s.Pawl.Migrate(t.Context()))
		_, err = s.Pawl.Outbox.EnqueueBatch(t.Context(), many(2+i, outbox.Message{Topic: "t"}))
		check(t, err)
		l, err := s.Pawl.Leases.Acquire(t.Context(), "l", lease.Options{})
		check(t, err)
		defer l.Close(context.Background())
	}
	got := gather(t, m)
	got.has(t, series{
		`pawl_messages_enqueued_total{queue="default",store="server",topic="t"}`: 2,
		`pawl_messages_enqueued_total{queue="default",store="_other",topic="t"}`: 3,
		`pawl_messages{queue="default",state="ready",store="server",topic="t"}`:  2,
		`pawl_lease_held{lease="l",store="_other"}`:                              1,
	})
	if n := len(got.of("pawl_messages")); n != 1 {
		t.Errorf("there are %d backlogs:\n%s", n, strings.Join(got.of("pawl_messages"), "\n"))
	}
}

// What cannot be watched is refused.
func TestNothingToWatch(t *testing.T) {
	if _, err := metrics.New(nil, metrics.Options{}); err == nil {
		t.Error("no pawl was watched")
	}
	if _, err := metrics.NewFleet(nil, metrics.Options{}); err == nil {
		t.Error("no fleet was watched")
	}
}
