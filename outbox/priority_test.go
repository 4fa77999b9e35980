package outbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-210: a message of a low priority is handled though there are always some of a higher one,
// soon after it has waited for as long as was set; without that it is not.
func TestPriorityWait(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		for _, set := range []bool{false, true} {
			t.Run(map[bool]string{false: "never", true: "set"}[set], func(t *testing.T) { testPriorityWait(t, e, set) })
		}
	})
}

func testPriorityWait(t *testing.T, e dbtest.Engine, set bool) {
	opts := worker.Options{Concurrency: 1, BatchSize: 2, StopWhenEmpty: true}
	if set {
		opts.PriorityWait = time.Minute
	}
	f := open(t, e, opts)
	for range 2 {
		f.enqueue(outbox.Message{Topic: "low", Priority: 5, Due: time.Now().Add(-2 * time.Minute)})
	}
	f.enqueue(outbox.Message{Topic: "late", Priority: 9, Due: time.Now().Add(-3 * time.Minute)})
	f.enqueue(outbox.Message{Topic: "middle", Priority: 1})
	const most = 20
	var high atomic.Int64
	var others []string
	f.Handle("high", func(ctx context.Context, _ *outbox.Message) error {
		if high.Add(1) > most {
			return nil
		}
		_, err := f.Enqueue(ctx, outbox.Message{Topic: "high", Priority: -5})
		return err
	})
	f.Handle("*", func(_ context.Context, m *outbox.Message) error {
		if high.Load() <= most {
			others = append(others, m.Topic)
		}
		return nil
	})
	for range 4 {
		f.enqueue(outbox.Message{Topic: "high", Priority: -5})
	}
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	switch {
	case !set && len(others) > 0:
		t.Errorf("%q were handled before those of a higher priority", others)
	case set && (len(others) != 3 || others[0] != "late" || others[1] != "low" || others[2] != "low"):
		t.Errorf("%q were handled meanwhile", others)
	}
}
