package pawl_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// D-491: an option that is set holds: of each that can be out of bounds, a value that is is refused.
func TestKeptAttemptsOption(t *testing.T) {
	db := dbtest.OpenSQLite(t)
	p, err := pawl.New(db.DB, pawl.Options{KeptAttempts: 2, StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler), Retry: &outbox.RetryPolicy{MaxAttempts: 4, Delay: func(int) time.Duration { return 0 }}})
	if err != nil {
		t.Fatal(err)
	}
	p.Handle("t", func(context.Context, *outbox.Message) error { return errors.New("no") })
	id, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	i, err := p.Outbox.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Outbox.Operator(access.Key{}).Attempts(t.Context(), i.Position)
	if err != nil || len(all) != 2 {
		t.Errorf("%d attempts are kept, %v", len(all), err)
	}
}

// D-492: what would be ignored is refused: all options of a call but the first, and those of a queue
// that nobody serves.
func TestIgnoredOptions(t *testing.T) {
	db := dbtest.OpenSQLite(t)
	p, err := pawl.New(db.DB, pawl.Options{StopWhenEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	topic := pawl.NewTopic[string]("t")
	a, b := pawl.EnqueueOptions{CorrelationID: "a"}, pawl.EnqueueOptions{OrderingKey: "b"}
	tx := db.Begin(t)
	defer func() { _ = tx.Rollback() }()
	_, message := topic.Message("x", a, b)
	_, enqueue := topic.Enqueue(t.Context(), p, "x", a, b)
	_, enqueueTx := topic.EnqueueTx(t.Context(), p, tx, "x", a, b)
	_, batch := topic.EnqueueBatch(t.Context(), p, []string{"x"}, a, b)
	_, open := sqlite.Open(t.TempDir()+"/x.db", sqlite.Options{}, sqlite.Options{})
	_, unserved := pawl.New(db.DB, pawl.Options{Queues: []string{"a"}, QueueConcurrency: map[string]int{"b": 1}})
	_, byDefault := pawl.New(db.DB, pawl.Options{QueueConcurrency: map[string]int{"b": 1}})
	for what, err := range map[string]error{
		"Message": message, "Enqueue": enqueue, "EnqueueTx": enqueueTx, "EnqueueBatch": batch, "Open": open, "unserved": unserved, "unserved by default": byDefault,
	} {
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, o := range []pawl.Options{{QueueConcurrency: map[string]int{"inbox": 1, "default": 2}}, {QueueConcurrency: map[string]int{"in": 1}, Inbox: inbox.Options{Queue: "in"}}} {
		if err := o.Validate(access.Key{}); err != nil {
			t.Error(err)
		}
	}
	panics(t, "topic", func() { pawl.NewTopic[string]("t", pawl.TopicOptions{}, pawl.TopicOptions{}) })
}

// D-492: a handler that is nil, also as a function of a type, and a second HandlerOptions are refused
// before anything runs.
func TestRefusedHandlers(t *testing.T) {
	topic := pawl.NewTopic[string]("t")
	handle := func(context.Context, *outbox.Message) error { return nil }
	for name, register := range map[string]func(p *pawl.Pawl){
		"nil":             func(p *pawl.Pawl) { p.Handle("t", nil) },
		"nil function":    func(p *pawl.Pawl) { p.Handle("t", nil) },
		"nil batch":       func(p *pawl.Pawl) { p.HandleBatch("t", nil, outbox.BatchOptions{}) },
		"nil inbox":       func(p *pawl.Pawl) { p.HandleInbox("t", nil) },
		"nil inbox tx":    func(p *pawl.Pawl) { p.HandleInboxTx("t", nil) },
		"topic":           func(p *pawl.Pawl) { topic.Handle(p, nil) },
		"topic, batch":    func(p *pawl.Pawl) { topic.HandleBatch(p, nil, outbox.BatchOptions{}) },
		"topic, inbox":    func(p *pawl.Pawl) { topic.HandleInbox(p, nil) },
		"topic, inbox tx": func(p *pawl.Pawl) { topic.HandleInboxTx(p, nil) },
		"options":         func(p *pawl.Pawl) { p.Handle("t", handle, outbox.HandlerOptions{}, outbox.HandlerOptions{}) },
		"options of inbox": func(p *pawl.Pawl) {
			p.HandleInbox("t", func(context.Context, *inbox.Message) error { return nil }, outbox.HandlerOptions{}, outbox.HandlerOptions{})
		},
	} {
		p, err := pawl.New(dbtest.OpenSQLite(t).DB, pawl.Options{StopWhenEmpty: true})
		if err != nil {
			t.Fatal(err)
		}
		register(p)
		if err := p.Run(t.Context()); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// D-492: a message that no handler was given has no result.
func TestResultOutsideHandler(t *testing.T) {
	if err := (&outbox.Message{Topic: "t"}).SetResult([]byte("x")); !errors.Is(err, pawl.ErrInvalid) {
		t.Error(err)
	}
}

func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if v, _ := recover().(string); !strings.Contains(v, want) {
			t.Errorf("panic %q, want %q", v, want)
		}
	}()
	f()
}
