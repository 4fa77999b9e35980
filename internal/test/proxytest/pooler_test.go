package proxytest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/test/testpg"
)

// A client that goes in the middle of a transaction leaves no lock behind.
func TestPoolerEndsAbandonedTransactions(t *testing.T) {
	server := testpg.URL(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	config, err := pgx.ParseConfig(NewPooler(t, server).URL(server))
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	client, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	const lock = `SELECT pg_advisory_xact_lock(4711290)`
	for _, statement := range []string{`BEGIN`, lock} {
		if _, err := client.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.PgConn().Conn().Close(); err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(t.Context()) }()
	if _, err := other.Exec(ctx, lock); err != nil {
		t.Errorf("the lock is held still: %v", err)
	}
}
