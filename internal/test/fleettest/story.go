// Package fleettest is what fleets are tested with on every engine.
package fleettest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Story is what a program does with every component of its stores, and what it sees.
type Story struct {
	mu   sync.Mutex
	seen map[string]int // "store topic"
}

// NewStory returns one in which nothing has happened yet.
func NewStory() *Story { return &Story{seen: map[string]int{}} }

// Note counts what happened in a store: in that of the fleet whose handler this is, or in the
// one that is named.
func (s *Story) Note(ctx context.Context, store, what string) error {
	if in := fleet.StoreOf(ctx); in != nil {
		store = in.Key
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[store+" "+what]++
	return ctx.Err()
}

func (s *Story) has(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, times := range s.seen {
		sum += times
	}
	return sum >= n
}

// Handler notes each message.
func (s *Story) Handler(store, what string) outbox.Handler {
	return func(ctx context.Context, _ *outbox.Message) error { return s.Note(ctx, store, what) }
}

// happenings are what is noted of one store.
func happenings() []string {
	return []string{"step", "done", "timed", "ran", "came", "came once"}
}

// Use uses every component of a store.
func Use(t testing.TB, p *pawl.Pawl) {
	t.Helper()
	ctx := t.Context()
	_, err := p.Joins.FanOut(ctx, join.Spec{}, []outbox.Message{{Topic: "step"}, {Topic: "step"}}, join.Wait{OnComplete: outbox.Message{Topic: "done"}})
	must(t, err)
	_, err = p.Timers.Schedule(ctx, timer.Timer{Topic: "timed", Due: time.Now().Add(50 * time.Millisecond)})
	must(t, err)
	must(t, p.Jobs.Put(ctx, job.Job{Name: "j", Topic: "ran", Schedule: "0 0 1 1 *"}))
	_, err = p.Jobs.Trigger(ctx, "j")
	must(t, err)
	for range 2 { // the second is a duplicate
		for topic, id := range map[string]string{"came": "1", "came once": "2"} {
			_, err := p.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: id}, Topic: topic})
			must(t, err)
		}
	}
	runs := 0
	for range 2 {
		must(t, p.Inbox.Once(ctx, inbox.Key{Source: "s", MessageID: "once"}, func(context.Context, outbox.Tx) error { runs++; return nil }))
	}
	if runs != 1 {
		t.Errorf("Once ran %d times", runs)
	}
	held, err := p.Leases.Acquire(ctx, "l", lease.Options{})
	must(t, err)
	must(t, held.Close(ctx))
}

// Check fails the test unless everything happens in every store as often as it should.
func (s *Story) Check(t testing.TB, keys ...string) {
	t.Helper()
	dbtest.Until(t, "everything happened", func() bool { return s.has(7 * len(keys)) })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		for _, what := range happenings() {
			want := 1
			if what == "step" {
				want = 2
			}
			if got := s.seen[key+" "+what]; got != want {
				t.Errorf("%s in %q: %d times, want %d", what, key, got, want)
			}
		}
	}
	if len(s.seen) != len(keys)*len(happenings()) {
		t.Errorf("happened: %v", s.seen)
	}
}

func (s *Story) register(f *fleet.Fleet) {
	for _, topic := range []string{"step", "done", "timed", "ran"} {
		f.Handle(topic, s.Handler("", topic))
	}
	f.HandleInbox("came", func(ctx context.Context, _ *inbox.Message) error { return s.Note(ctx, "", "came") })
	f.HandleInboxTx("came once", func(ctx context.Context, _ outbox.Tx, _ *inbox.Message) error { return s.Note(ctx, "", "came once") })
}

// EveryComponent uses every component in every store of a fleet, whose handlers are registered
// once, and checks what happens.
func EveryComponent(t testing.TB, dbs []fleet.Database, o fleet.Options) {
	t.Helper()
	f := open(t, dbs, o)
	s := NewStory()
	s.register(f)
	start(t, f)
	var keys []string
	for _, d := range dbs {
		keys = append(keys, d.Key)
	}
	for _, key := range keys {
		store, err := f.Operator(access.Key{}).Store(t.Context(), key)
		must(t, err)
		Use(t, store.Pawl)
	}
	s.Check(t, keys...)
}

// open is a fleet that is closed with the test.
func open(t testing.TB, dbs []fleet.Database, o fleet.Options) *fleet.Fleet {
	t.Helper()
	f, err := fleet.New(fleet.Static(dbs...), o)
	must(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// start runs a fleet until the end of the test.
func start(t testing.TB, f *fleet.Fleet) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
