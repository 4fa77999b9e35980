package watermill_test

import (
	"context"
	"database/sql"
	"log/slog"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/watermill"
)

// patience is how long tests wait for what has to happen.
const patience = time.Minute

// quick are options of workers that retry soon and leave soon.
func quick() pawl.Options {
	return pawl.Options{
		Logger: slog.New(slog.DiscardHandler), Grace: 200 * time.Millisecond, PollInterval: 100 * time.Millisecond,
		Retry: &outbox.RetryPolicy{Delay: func(int) time.Duration { return 10 * time.Millisecond }},
	}
}

// open returns a Pawl over a fresh database.
func open(t testing.TB, e dbtest.Engine, opts pawl.Options) (*pawl.Pawl, dbtest.Database) {
	t.Helper()
	d := e.Open(t)
	p, err := pawl.New(d, opts)
	must(t, err)
	return p, d
}

// runUntil runs the workers of p until something is the case.
func runUntil(t testing.TB, p *pawl.Pawl, what string, ok func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	dbtest.Until(t, what, ok)
}

func subscriber(t testing.TB, p *pawl.Pawl, opts watermill.SubscriberOptions) *watermill.Subscriber {
	t.Helper()
	s, err := watermill.NewSubscriber(p, opts)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func subscribe(t testing.TB, s *watermill.Subscriber, topic string) <-chan *message.Message {
	t.Helper()
	messages, err := s.Subscribe(t.Context(), topic)
	must(t, err)
	return messages
}

// next returns the next message of a subscription.
func next(t testing.TB, messages <-chan *message.Message) *message.Message {
	t.Helper()
	select {
	case m, ok := <-messages:
		if !ok {
			t.Fatal("the channel is closed")
		}
		return m
	case <-time.After(patience):
		t.Fatal("no message")
	}
	return nil
}

// closed waits until a channel is closed.
func closed[T any](t testing.TB, what string, c <-chan T) {
	t.Helper()
	select {
	case _, open := <-c:
		if open {
			t.Fatalf("%s: something came", what)
		}
	case <-time.After(patience):
		t.Fatalf("%s: still open", what)
	}
}

func begin(t testing.TB, d dbtest.Database) *sql.Tx {
	t.Helper()
	tx := d.Begin(t)
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
