package pawl_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func openFile(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// OBX-108, OBX-110, D-100
func TestRunDeploysTheSchemaIfAsked(t *testing.T) {
	db := openFile(t)
	for range 2 {
		p, err := pawl.New(db, pawl.Options{EnableSchemaDeployment: true, StopWhenEmpty: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CheckSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// OBX-109, D-100: nothing is created unless asked.
func TestRunRefusesAMissingSchema(t *testing.T) {
	db := openFile(t)
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Fatalf("want ErrSchemaMissing, got %v", err)
	}
	if _, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"}); !errors.Is(err, engine.ErrSchemaMissing) || !strings.Contains(err.Error(), "call Migrate") {
		t.Fatalf("want ErrSchemaMissing and what helps, got %v", err)
	}
	var tables int
	if err := db.SQL().QueryRow("SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil || tables != 0 {
		t.Fatalf("%d tables were created: %v", tables, err)
	}
}

func TestNewWantsADatabase(t *testing.T) {
	if _, err := pawl.New(nil, pawl.Options{}); err == nil {
		t.Fatal("accepted no database")
	}
}

func TestTheFrontDoorServesAllOfIt(t *testing.T) {
	p, err := pawl.New(openFile(t), pawl.Options{StopWhenEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var seen []string
	p.Use(func(next outbox.Handler) outbox.Handler {
		return func(ctx context.Context, m *outbox.Message) error {
			seen = append(seen, "middleware")
			return next(ctx, m)
		}
	})
	p.Handle("t", func(context.Context, *outbox.Message) error { seen = append(seen, "handler"); return nil })
	p.HandleInbox("u", func(context.Context, *inbox.Message) error { seen = append(seen, "inbox handler"); return nil })
	if _, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: "1"}, Topic: "u"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Internal(access.Key{}).RunSlice(t.Context(), worker.TimeSlice{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"middleware", "handler", "middleware", "inbox handler"}; !slices.Equal(seen, want) {
		t.Fatalf("ran %v, want %v", seen, want)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
