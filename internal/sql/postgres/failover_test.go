package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// behind opens a database through a proxy, over a pool whose connections all exist.
func behind(t *testing.T, schema string, settings ...string) (*postgres.DB, *proxytest.Proxy) {
	t.Helper()
	proxy := proxytest.New(t, testpg.URL(t))
	url := with(proxy.URL(testpg.URL(t)), "pool_max_conns=4")
	for _, s := range settings {
		url = with(url, s)
	}
	first, err := postgres.Open(testpg.URL(t), postgres.Options{Schema: schema, PollOnly: true})
	enginetest.Must(t, err)
	enginetest.Must(t, first.Migrate(t.Context())) // a busy machine takes longer than the time-out below
	enginetest.Must(t, first.Close())
	db, err := postgres.Open(url, postgres.Options{Schema: schema, PollOnly: true, StatementTimeout: 2 * time.Second})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	warm(t, db.Pool())
	return db, proxy
}

// warm makes all connections of a pool.
func warm(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	var all []*pgxpool.Conn
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(t.Context())
		enginetest.Must(t, err)
		all = append(all, conn)
	}
	for _, conn := range all {
		conn.Release()
	}
}

// D-253: a server that is gone without a word is left after one statement, not after one for
// each connection of the pool.
func TestSilentServerIsLeft(t *testing.T) {
	t.Parallel()
	db, proxy := behind(t, "silent_server")
	proxy.SilenceOpen()
	if err := db.Read(t.Context(), enginetest.Lanes()); err == nil {
		t.Error("a server that says nothing has answered")
	}
	enginetest.Must(t, db.Read(t.Context(), enginetest.Lanes()))
}

// D-253: a server that refuses writes is left, with all connections, and again only after a
// second; a caller's transaction that is read-only by its own choice leaves nothing.
func TestReadOnlyServerIsLeft(t *testing.T) {
	t.Parallel()
	db, _ := behind(t, "read_only_server")
	made := func() int64 { return db.Pool().Stat().NewConnsCount() }
	before := made()
	tx, err := db.Pool().BeginTx(t.Context(), pgx.TxOptions{AccessMode: pgx.ReadOnly})
	enginetest.Must(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	if err := db.DoTx(t.Context(), postgres.Tx(tx), engine.Ask(op.DoctorWrite{})); !errors.Is(err, engine.ErrReadOnly) {
		t.Fatalf("a claim in a read-only transaction: %v", err)
	}
	enginetest.Must(t, tx.Rollback(t.Context()))
	postgres.AwaitBackground(db)
	warm(t, db.Pool())
	if n := made() - before; n != 0 {
		t.Errorf("a read-only transaction had %d connections made", n)
	}

	readOnly(t, db) // as after ALTER SYSTEM
	var refused sync.WaitGroup
	for range 8 {
		refused.Go(func() { _ = db.Do(t.Context(), claimOne()) })
	}
	refused.Wait()
	warm(t, db.Pool())
	enginetest.Must(t, db.Do(t.Context(), claimOne()))
	if n, most := made()-before, int64(db.Pool().Config().MaxConns); n > most {
		t.Errorf("%d connections were made instead of %d", n, most)
	}
}

func claimOne() *engine.Call {
	return enginetest.Claim(enginetest.Token(), time.Minute, 1, &[]enginetest.Message{})
}

// readOnly has all connections of a pool refuse writes.
func readOnly(t *testing.T, db *postgres.DB) {
	t.Helper()
	var all []*pgxpool.Conn
	for range db.Pool().Config().MaxConns {
		conn, err := db.Pool().Acquire(t.Context())
		enginetest.Must(t, err)
		_, err = conn.Exec(t.Context(), "SET default_transaction_read_only = on")
		enginetest.Must(t, err)
		all = append(all, conn)
	}
	for _, conn := range all {
		conn.Release()
	}
}
