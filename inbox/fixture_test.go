package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
)

// fixture is an inbox on a fresh database, beside a table of effects.
type fixture struct {
	*parts.Inbox
	t  *testing.T
	db dbtest.Database
}

func open(t *testing.T, e dbtest.Engine, opts ...inbox.Options) *fixture {
	t.Helper()
	db := e.Open(t)
	f := &fixture{t: t, db: db}
	if _, err := db.SQL.ExecContext(t.Context(), "CREATE TABLE "+db.Table("effects")+" (name text)"); err != nil {
		t.Fatal(err)
	}
	f.Inbox = f.another(opts...)
	return f
}

// another returns an inbox on the same database, as another process has one.
func (f *fixture) another(opts ...inbox.Options) *parts.Inbox {
	var o inbox.Options
	if len(opts) > 0 {
		o = opts[0]
	}
	return parts.NewInbox(f.db.DB, o, worker.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)})
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// is insists on an error of a kind.
func (f *fixture) is(err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Fatalf("got %v, want %v", err, want)
	}
}

// effect writes an effect in a transaction.
func (f *fixture) effect(ctx context.Context, tx engine.Tx, name string) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES ('%s')", f.db.Table("effects"), name))
	return err
}

// write is what most handlers here do.
func (f *fixture) write(name string) func(context.Context, engine.Tx) error {
	return func(ctx context.Context, tx engine.Tx) error { return f.effect(ctx, tx, name) }
}

// effects insists on how many effects there are.
func (f *fixture) effects(want int) {
	f.t.Helper()
	var got int
	f.db.Row(f.t, "SELECT count(*) FROM "+f.db.Table("effects"), &got)
	if got != want {
		f.t.Fatalf("%d effects, want %d", got, want)
	}
}

// state insists on what the inbox knows of a message.
func (f *fixture) state(k inbox.Key, status inbox.Status, deliveries int64, attempts int) *inbox.Info {
	f.t.Helper()
	got, err := f.Get(f.ctx(), k)
	f.check(err)
	if got.Status != status || got.Deliveries != deliveries || got.Attempts != attempts {
		f.t.Fatalf("the message is %s after %d deliveries and %d attempts, want %s, %d, %d", got.Status, got.Deliveries, got.Attempts, status, deliveries, attempts)
	}
	return got
}

func key(id string) inbox.Key { return inbox.Key{Source: "billing", MessageID: id} }

var errDown = errors.New("down")
