package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// seen are the messages that a worker handled, by topic.
type seen struct {
	mu     sync.Mutex
	topics []string
}

func (s *seen) handle(_ context.Context, m *outbox.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics = append(s.topics, m.Topic)
	return nil
}

func (s *seen) sorted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.topics))
}

// components has one of each: what a worker is to handle, and what it is not.
func components(ctx context.Context, w *world) (string, error) {
	p, err := w.pawl()
	if err != nil {
		return "", err
	}
	s := &seen{}
	want := []string{"joined", "run", "step", "step", "tick"}
	for _, topic := range slices.Compact(slices.Clone(want)) {
		p.Handle(topic, s.handle)
	}
	twoSteps := flow.New("evidence", func(f *flow.Run, in int) (int, error) {
		n, err := flow.Step(f, "add", func(context.Context) (int, error) { return in + 1, nil })
		if err != nil {
			return 0, err
		}
		return n, flow.StepTx(f, "write", func(context.Context, pawl.Tx) error { return nil })
	})
	twoSteps.Handle(p)
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- p.Run(working) }()
	id, err := twoSteps.Start(ctx, p, 41, flow.Options{})
	if err == nil {
		err = begin(ctx, p)
	}
	if err == nil {
		err = until(ctx, func() bool { return slices.Equal(s.sorted(), want) })
		if err != nil {
			err = fmt.Errorf("handled %v, not %v: %w", s.sorted(), want, err)
		}
	}
	var result []byte
	if err == nil {
		if result, err = p.Outbox.Await(ctx, id); err == nil && string(result) != "42" {
			err = wrong("a flow returned %q", result)
		}
	}
	stop()
	if err = errors.Join(err, <-ended); err != nil {
		return "", err
	}
	return "each once", nil
}

// begin makes what the worker handles, and takes a lease and a message of the inbox itself.
func begin(ctx context.Context, p *pawl.Pawl) error {
	if _, err := p.Joins.FanOut(ctx, join.Spec{}, []outbox.Message{{Topic: "step"}, {Topic: "step"}}, join.Wait{OnComplete: outbox.Message{Topic: "joined"}}); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if _, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "tick", Due: time.Now()}); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	later, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "tick", Due: time.Now().Add(time.Hour)})
	if err == nil {
		_, err = p.Timers.Cancel(ctx, later)
	}
	if err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	if err := p.Jobs.Put(ctx, job.Job{Name: "evidence", Topic: "run", Schedule: "@yearly"}); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	if _, err := p.Jobs.Trigger(ctx, "evidence"); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	if err := once(ctx, p); err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	if err := exclusive(ctx, p); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	return nil
}

func once(ctx context.Context, p *pawl.Pawl) error {
	n := 0
	for range 2 {
		err := p.Inbox.Once(ctx, inbox.Key{Source: "evidence", MessageID: "1"}, func(context.Context, outbox.Tx) error { n++; return nil })
		if err != nil {
			return err
		}
	}
	if n != 1 {
		return wrong("a message had its effect %d times", n)
	}
	return nil
}

func exclusive(ctx context.Context, p *pawl.Pawl) error {
	l, err := p.Leases.Acquire(ctx, "evidence", lease.Options{})
	if err != nil {
		return err
	}
	_, other := p.Leases.Acquire(ctx, "evidence", lease.Options{})
	if err := l.Close(ctx); err != nil {
		return err
	}
	if !errors.Is(other, lease.ErrHeld) {
		return wrong("another one had it, too: %v", other)
	}
	return nil
}
