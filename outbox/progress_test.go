package outbox_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-797: what a handler says of its progress is with its message until it returns; contexts made from the
// handler's are its own, and others are refused.
func TestProgress(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite}, quick(worker.Options{}))
	said, release := make(chan struct{}), make(chan struct{})
	f.Handle("t", func(ctx context.Context, m *outbox.Message) error {
		for i, bad := range []error{
			outbox.Progress(ctx, -0.1, ""), outbox.Progress(ctx, 1.1, ""), outbox.Progress(ctx, math.NaN(), ""),
			outbox.Progress(ctx, 0, strings.Repeat("x", 256)), outbox.Progress(ctx, 0, "\xff"), outbox.Progress(t.Context(), 0.5, ""),
		} {
			if !errors.Is(bad, engine.ErrInvalid) {
				t.Errorf("%d: %v", i, bad)
			}
		}
		inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		for _, done := range []float64{0.1, 0.4} {
			if err := outbox.Progress(inner, done, "rows "+string(m.Payload)); err != nil {
				t.Error(err)
			}
		}
		said <- struct{}{}
		if string(m.Payload) != "short" {
			<-release
		}
		return nil
	})
	ids, err := f.EnqueueBatch(t.Context(), []outbox.Message{{Topic: "t", Payload: []byte("short")}, {Topic: "t", Payload: []byte("40 000")}})
	if err != nil {
		t.Fatal(err)
	}
	at := f.find(ids[1]).Position
	f.start()
	<-said
	<-said
	component := f.Component()
	dbtest.Until(t, "one of a claim has returned", func() bool { return len(component.Progress()) == 1 })
	all := component.Progress()
	if len(all) != 1 || all[0].Position != int64(at) || all[0].Done != 0.4 || all[0].Note != "rows 40 000" || all[0].At.IsZero() {
		t.Errorf("%+v", all)
	}
	close(release)
	dbtest.Until(t, "it has returned", func() bool { return len(component.Progress()) == 0 })
}
