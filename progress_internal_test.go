package pawl

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/outbox"
)

// D-797: a process's heartbeat has what its handlers say of their progress.
func TestProgressInHeartbeats(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := New(db, Options{})
	if err == nil {
		err = p.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	said, release := make(chan error), make(chan struct{})
	imports := NewTopic[[]byte]("import")
	imports.Handle(p, func(ctx context.Context, _ *Delivery[[]byte]) error {
		said <- outbox.Progress(ctx, 0.25, "rows 10")
		<-release
		return nil
	})
	if _, err := imports.Enqueue(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	if err := <-said; err != nil {
		t.Error(err)
	}
	p.workers.Show(t.Context(), p.self())
	all, err := registry.List(t.Context(), p.db)
	if err != nil || len(all) != 1 || len(all[0].Progress) != 1 || all[0].Progress[0].Done != 0.25 || all[0].Progress[0].Note != "rows 10" {
		t.Errorf("%+v, %v", all, err)
	}
	close(release)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
