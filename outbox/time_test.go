package outbox_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// inBubble runs test on SQLite under a fake clock: the process's clock is the
// database's (D-1), so hours pass in moments.
func inBubble(t *testing.T, opts worker.Options, test func(t *testing.T, ctx context.Context, o *parts.Outbox)) {
	inBubbleOn(t, func(t *testing.T, ctx context.Context, db engine.DB) { test(t, ctx, parts.NewOutbox(db, opts)) })
}

// inBubbleOn is inBubble for a test that needs the database.
func inBubbleOn(t *testing.T, test func(t *testing.T, ctx context.Context, db engine.DB)) {
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(path, sqlite.Options{WatchEvery: time.Second}) // looking costs real time
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		dbtest.Migrate(t, db)
		test(t, t.Context(), db)
	})
}

// run runs o until the returned function is called.
func run(t *testing.T, o *parts.Outbox) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// D-14, D-1, OBX-062, OBX-065: the default policy, by the clock.
func TestTenAttemptsWithGrowingPauses(t *testing.T) {
	inBubble(t, worker.Options{Retry: &worker.RetryPolicy{MaxAttempts: 10}}, func(t *testing.T, ctx context.Context, o *parts.Outbox) {
		var at []time.Time
		o.Handle("t", func(context.Context, *outbox.Message) error {
			at = append(at, time.Now())
			return errors.New("down")
		})
		id, err := o.Enqueue(ctx, outbox.Message{Topic: "t"})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(t, o)
		time.Sleep(10 * time.Minute) // of the bubble's time
		stop()
		var pauses []int
		for i := 1; i < len(at); i++ {
			pauses = append(pauses, int(at[i].Sub(at[i-1]).Seconds()))
		}
		if want := []int{1, 2, 4, 8, 16, 32, 60, 60, 60}; !slices.Equal(pauses, want) {
			t.Fatalf("paused %v seconds, want %v", pauses, want)
		}
		if got, err := o.Get(ctx, id); err != nil || got.Status != outbox.Failed || got.RetryCount != 9 {
			t.Fatal(got, err)
		}
	})
}

// D-11, OBX-012: a message due in ten minutes is handled then, not earlier and
// not a poll later.
func TestDueInTenMinutes(t *testing.T) {
	inBubble(t, worker.Options{PollInterval: time.Minute}, func(t *testing.T, ctx context.Context, o *parts.Outbox) {
		var handled time.Time
		o.Handle("t", func(context.Context, *outbox.Message) error { handled = time.Now(); return nil })
		due := time.Now().Add(10 * time.Minute).UTC()
		if _, err := o.Enqueue(ctx, outbox.Message{Topic: "t", Due: due}); err != nil {
			t.Fatal(err)
		}
		stop := run(t, o)
		time.Sleep(10*time.Minute + time.Second) // of the bubble's time
		stop()
		if late := handled.Sub(due); handled.IsZero() || late < 0 || late > 100*time.Millisecond {
			t.Fatalf("handled %v after it was due", late)
		}
	})
}

// D-25: Run deletes old messages by itself.
func TestRunCleansUp(t *testing.T) {
	inBubble(t, worker.Options{Retention: time.Minute, Retry: &worker.RetryPolicy{MaxAttempts: 1}}, func(t *testing.T, ctx context.Context, o *parts.Outbox) {
		o.Handle("good", func(context.Context, *outbox.Message) error { return nil })
		o.Handle("bad", func(context.Context, *outbox.Message) error { return errors.New("no") })
		for _, topic := range []string{"good", "good", "bad"} {
			if _, err := o.Enqueue(ctx, outbox.Message{Topic: topic}); err != nil {
				t.Fatal(err)
			}
		}
		stop := run(t, o)
		time.Sleep(20 * time.Minute) // of the bubble's time
		stop()
		if c, err := o.Count(ctx); err != nil || c != (outbox.Counts{Failed: 1}) {
			t.Fatal(c, err)
		}
	})
}

// reads counts the looks at an operation.
type reads struct {
	engine.DB
	op string
	n  *atomic.Int64
}

func (r reads) Read(ctx context.Context, c *engine.Call) error {
	if c.Name() == r.op {
		r.n.Add(1)
	}
	return r.DB.Read(ctx, c)
}

// OBX-122: what is due in the farthest future does not keep a worker from
// sleeping.
func TestTheFarFutureIsSleptThrough(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(path, sqlite.Options{WatchEvery: time.Second}) // looking costs real time
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		dbtest.Migrate(t, db)
		var looks atomic.Int64
		o := parts.NewOutbox(reads{db, "outbox/next_due", &looks}, worker.Options{})
		if _, err := o.Enqueue(t.Context(), outbox.Message{Topic: "t", Due: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
		stop := run(t, o)
		time.Sleep(time.Minute) // of the bubble's time
		stop()
		if n := looks.Load(); n > 100 {
			t.Fatalf("looked %d times in a minute", n)
		}
	})
}
