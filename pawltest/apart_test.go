package pawltest_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/timer"
)

// D-472: a call that commits apart from the transaction of its own caller is warned of, once for
// each transaction; the right one is not.
func TestCallsApart(t *testing.T) {
	var log bytes.Buffer
	d := onPostgres(t, pawltest.Options{Pawl: pawl.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))}})
	once := func(id string, fn func(ctx context.Context, tx outbox.Tx) error) {
		t.Helper()
		check(t, d.Inbox.Once(t.Context(), inbox.Key{Source: "s", MessageID: id}, fn))
	}
	once("right", func(ctx context.Context, tx outbox.Tx) error {
		_, err := d.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t"})
		return err
	})
	if log.Len() > 0 {
		t.Errorf("warned of the right call: %s", &log)
	}
	once("apart", func(ctx context.Context, tx outbox.Tx) error {
		if _, err := d.Outbox.Enqueue(ctx, outbox.Message{Topic: "t"}); err != nil {
			return err
		}
		_, err := d.Timers.Schedule(ctx, timer.Timer{Topic: "t", Due: time.Now()})
		return err
	})
	if text := log.String(); strings.Count(text, "commits apart") != 1 || !strings.Contains(text, "use=EnqueueTx") {
		t.Errorf("logged %s", text)
	}
}
