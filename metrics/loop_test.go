package metrics

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// endless is a queue that hands out messages until there were enough of them, and
// takes no time for it.
type endless struct {
	left int
	msgs []*outbox.Message
}

func (q *endless) Exchange(_ context.Context, _ *worker.Settlement, c worker.ClaimRequest) ([]worker.Item[*outbox.Message], error) {
	items := make([]worker.Item[*outbox.Message], min(c.N, q.left))
	q.left -= len(items)
	now := time.Now().UTC().Round(0)
	for i := range items {
		m := q.msgs[i%len(q.msgs)]
		items[i] = worker.Item[*outbox.Message]{ID: int64(i), MessageID: m.ID, Topic: m.Topic, Since: now, Body: m}
	}
	return items, nil
}

func (q *endless) Extend(context.Context, []worker.Held, time.Duration) (int64, error) { return 0, nil }
func (q *endless) Reap(context.Context) (worker.Reaped, error)                         { return worker.Reaped{}, nil }

func (q *endless) ClaimSuspects(context.Context, uuid.UUID, time.Duration, int) ([]worker.Item[*outbox.Message], error) {
	return nil, nil
}

func (q *endless) NextDue(context.Context) (time.Duration, bool, error) { return 0, false, nil }
func (q *endless) Waiter() engine.Waiter                                { return napper{} }

// napper sleeps as long as it is told to.
type napper struct{}

func (napper) Subscribe(context.Context) (bool, error) { return false, nil }
func (napper) Unsubscribe()                            {}
func (napper) Close()                                  {}
func (napper) Sleep(ctx context.Context, d time.Duration) bool {
	_ = engine.Sleep(ctx, d)
	return false
}

// BenchmarkLoop is what a message costs a worker without a database, with handlers
// that do nothing: watched against unwatched is what the metrics add.
func BenchmarkLoop(b *testing.B) {
	var msgs []*outbox.Message
	for i := range 64 {
		msgs = append(msgs, &outbox.Message{Topic: fmt.Sprintf("topic-%d", i%8)})
	}
	observer := someObserver(8)
	for _, bench := range []struct {
		name      string
		observers worker.Observers
	}{{"unwatched", nil}, {"watched", worker.Observers{{Attempted: observer.attempted, Claimed: observer.claimed}}}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			loop := worker.New(worker.Config[*outbox.Message]{
				Queue: &endless{b.N, msgs}, Name: "default", Observers: bench.observers, StopEmpty: true,
				Handle: func(context.Context, worker.Item[*outbox.Message]) error { return nil },
				Logger: slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError})),
			})
			b.ResetTimer()
			_ = loop.Run(b.Context())
		})
	}
}
