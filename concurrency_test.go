package pawl_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// OBX-118: a queue has the concurrency that is its own, the others have that of all.
func TestQueueConcurrency(t *testing.T) {
	t.Parallel()
	slow := pawl.NewTopic[int]("slow", pawl.TopicOptions{Queue: "slow"})
	fast := pawl.NewTopic[int]("fast", pawl.TopicOptions{Queue: "fast"})
	p, err := pawl.New(dbtest.OpenSQLite(t), pawl.Options{
		Queues: []string{"slow", "fast"}, Concurrency: 3, QueueConcurrency: map[string]int{"slow": 1}, StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler),
	})
	must(t, err)
	bodies := []int{1, 2, 3, 4, 5, 6}
	_, err = slow.EnqueueBatch(t.Context(), p, bodies)
	must(t, err)
	_, err = fast.EnqueueBatch(t.Context(), p, bodies)
	must(t, err)
	var running, most atomic.Int64
	fastDone := make(chan struct{})
	slow.Handle(p, func(context.Context, *pawl.Delivery[int]) error {
		most.Store(max(most.Load(), running.Add(1)))
		<-fastDone // time enough for another to begin, if it may
		running.Add(-1)
		return nil
	})
	var together sync.WaitGroup
	together.Add(3)
	var count, handled atomic.Int64
	fast.Handle(p, func(context.Context, *pawl.Delivery[int]) error {
		if count.Add(1) <= 3 {
			together.Done()
			together.Wait()
		}
		if handled.Add(1) == int64(len(bodies)) {
			close(fastDone)
		}
		return nil
	})
	must(t, p.Run(t.Context()))
	if most.Load() != 1 || count.Load() != 6 {
		t.Errorf("%d of the slow at once, %d of the fast handled", most.Load(), count.Load())
	}
}

// pooled is a database whose pool has a limit of a test's.
type pooled struct {
	engine.DB
	most int
}

func (p pooled) PoolStats() engine.PoolStats { return engine.PoolStats{Max: p.most} }

// D-583: Run warns once of a pool that is far too small for the handlers of all queues.
func TestSmallPoolIsLogged(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		for _, c := range []struct{ most, times int }{{0, 0}, {4, 1}, {5, 1}, {6, 0}, {100, 0}} {
			var log strings.Builder
			p, err := pawl.New(pooled{e.Open(t).DB, c.most}, pawl.Options{
				Queues: []string{"a", "b"}, QueueConcurrency: map[string]int{"a": 30, "b": 18}, StopWhenEmpty: true,
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(log.String(), "the pool of connections is small"); n != c.times || n > 0 && !strings.Contains(log.String(), "handlers=48") {
				t.Errorf("%d connections: %q", c.most, &log)
			}
		}
	})
}
