package pawl_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-756: Start returns when work has begun; Stop ends it as the end of Run's context does, whatever became of
// the context that it was started with, and may be called again.
func TestStartAndStop(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, err := pawl.New(e.Open(t).DB, pawl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(t.Context()); err != nil {
			t.Errorf("stopped before it was started: %v", err)
		}
		began, ended := make(chan struct{}), make(chan struct{})
		p.Handle("t", func(ctx context.Context, _ *outbox.Message) error {
			close(began)
			<-ended
			return ctx.Err()
		})
		starting, cancel := context.WithCancel(t.Context())
		if err := p.Start(starting); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := p.Start(t.Context()); err == nil {
			t.Error("started twice")
		}
		if _, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
		<-began
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Stop(over); !errors.Is(err, context.Canceled) {
			t.Errorf("stop without time for what runs: %v", err)
		}
		close(ended)
		for range 2 {
			if err := p.Stop(t.Context()); err != nil {
				t.Errorf("stop: %v", err)
			}
		}
		c, err := p.Outbox.Count(t.Context())
		if err != nil || c.Done != 1 {
			t.Errorf("%d done of 1, %v", c.Done, err)
		}
	})
}

// D-757: Start says why it cannot, and when it may wait no longer for a server.
func TestStartFails(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	if _, err := db.SQL.ExecContext(t.Context(), "DROP TABLE "+db.Table("pawl_schema")); err != nil {
		t.Fatal(err)
	}
	p, err := pawl.New(db.DB, pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Start(t.Context()); !errors.Is(err, pawl.ErrSchemaMissing) {
			t.Errorf("started without a schema: %v", err)
		}
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stopped what had not begun: %v", err)
	}
	nobody, err := postgres.Open("postgres://127.0.0.1:1/none?connect_timeout=1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nobody.Close() }()
	if p, err = pawl.New(nobody, pawl.Options{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("started without a server: %v", err)
	}
}
