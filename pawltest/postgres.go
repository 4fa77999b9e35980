package pawltest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
)

const (
	// reachLimit is how long a server may take to answer.
	reachLimit = 10 * time.Second
	// dropLimit bounds the clean-up.
	dropLimit = 20 * time.Second
	// openLimit does where the test has left a connection in use, as it may when it
	// fails: an open transaction can hold locks on what is to be dropped.
	openLimit = time.Second
)

// Postgres returns a database on the PostgreSQL server that a connection string
// names, for one test: a fresh schema is where unqualified names of the test's own
// tables lead, a second one has pawl's. Both are dropped when the test ends. A
// server that cannot be reached fails the test: one that never ran proves nothing.
func Postgres(t testing.TB, url string, opts ...Options) *DB {
	t.Helper()
	o := options(t, opts)
	schema := "pawltest_" + strings.ToLower(rand.Text())
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // pgx's error may quote the string with its password
		t.Fatalf("pawltest: the connection string cannot be parsed")
	}
	config.ConnConfig.RuntimeParams["search_path"] = schema + ", public"
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatalf("pawltest: %v", err)
	}
	t.Cleanup(func() { closePool(t, pool) })
	reach(t, pool)

	names := engine.Names{Schema: schema + "_pawl", Prefix: o.Prefix}
	db, err := postgres.New(pool, postgres.Options{Schema: names.Schema, Prefix: names.Prefix})
	if err != nil {
		t.Fatalf("pawltest: %v", err)
	}
	t.Cleanup(func() { drop(t, pool, schema, names.Schema) })
	t.Cleanup(func() { _ = db.Close() })
	own := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { _ = own.Close() })

	if _, err := pool.Exec(t.Context(), "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("pawltest: create a schema: %v", err)
	}
	d := &DB{engine: db, sql: own, queries: postgresQueries(names)}
	d.Clock = &Clock{t: t, read: func() time.Time { return serverTime(t, db) }}
	d.build(t, o)
	return d
}

// reach fails the test if nobody answers.
func reach(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), reachLimit)
	defer cancel()
	if err := pool.Ping(ctx); err != nil {
		c := pool.Config().ConnConfig
		t.Fatalf("pawltest: no PostgreSQL to test against: host %s, port %d, database %q: %v", c.Host, c.Port, c.Database, err)
	}
}

// serverTime reads the clock that decides what is due. Handlers may ask as well,
// outside the test's goroutine: so no Fatal.
func serverTime(t testing.TB, db engine.DB) time.Time {
	clock, _, err := engine.Get(context.Background(), db, op.ClockNow{})
	if err != nil {
		t.Errorf("pawltest: read the server's clock: %v", err)
	}
	return clock.Now.UTC()
}

func drop(t testing.TB, pool *pgxpool.Pool, schemas ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience(pool))
	defer cancel()
	for _, schema := range schemas {
		if _, err := pool.Exec(ctx, fmt.Sprintf("DROP SCHEMA IF EXISTS %s CASCADE", schema)); err != nil {
			t.Errorf("pawltest: schema %s stays on the server: has the test left a transaction open? %v", schema, err)
		}
	}
}

// closePool waits for connections to come back, but not for ever.
func closePool(t testing.TB, pool *pgxpool.Pool) {
	limit := patience(pool)
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(limit):
		t.Errorf("pawltest: %d connections are still in use after the test", pool.Stat().AcquiredConns())
	}
}

func patience(pool *pgxpool.Pool) time.Duration {
	if pool.Stat().AcquiredConns() > 0 {
		return openLimit
	}
	return dropLimit
}
