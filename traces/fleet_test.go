package traces_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/traces"
)

// In a fleet of both engines every span names its store.
func TestFleet(t *testing.T) {
	server := dbtest.OpenPostgres(t)
	stores := []fleet.Database{
		{Key: "file", URL: "sqlite:" + filepath.Join(t.TempDir(), "store.db")},
		{Key: "server", URL: testpg.URL(t), Schema: strings.TrimSuffix(server.Table(""), ".")},
	}
	f, err := fleet.New(fleet.Static(stores...), fleet.Options{
		Engines: map[string]fleet.Opener{"postgres": postgres.OpenURL, "sqlite": sqlite.OpenURL},
		Pawl:    pawl.Options{EnableSchemaDeployment: true, StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)},
	})
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	s := record()
	must(t, traces.InstrumentFleet(f, traces.Options{TracerProvider: s.provider}))
	f.Handle("t", fine)
	f.HandleInbox("hook", func(context.Context, *inbox.Message) error { return nil })
	err = f.MigrateAll(t.Context(), "")
	must(t, err)
	s.within(t.Context(), func(ctx context.Context) {
		for _, db := range stores {
			p, err := f.Pawl(t.Context(), db.Key)
			must(t, err)
			_, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "t"})
			must(t, err)
			_, err = p.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: "1"}, Topic: "hook"})
			must(t, err)
		}
	})
	must(t, f.Run(t.Context()))
	for _, topic := range []string{"t", "hook"} {
		created := map[string]string{} // stores by span
		for _, sp := range s.named("create " + topic) {
			created[sp.SpanContext().SpanID().String()] = attr(sp, "pawl.store")
		}
		seen := map[string]bool{}
		for _, sp := range s.named("process " + topic) {
			store := attr(sp, "pawl.store")
			if from := created[sp.Links()[0].SpanContext.SpanID().String()]; from != store {
				t.Errorf("%s of %q is linked to %q", topic, store, from)
			}
			seen[store] = true
		}
		if len(created) != 2 || len(seen) != 2 || !seen["file"] || !seen["server"] {
			t.Errorf("%s: created %v, processed in %v", topic, created, seen)
		}
	}
}
