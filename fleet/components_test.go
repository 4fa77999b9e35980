package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// story is what a program does with every component of a store, and what it sees.
type story struct {
	mu   sync.Mutex
	seen map[string]int // "store topic"
}

func (s *story) note(ctx context.Context, store, what string) error {
	if in := fleet.StoreOf(ctx); in != nil {
		store = in.Key
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[store+" "+what]++
	return ctx.Err()
}

func (s *story) has(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, times := range s.seen {
		sum += times
	}
	return sum >= n
}

func (s *story) handler(store, what string) outbox.HandlerFunc {
	return func(ctx context.Context, _ *outbox.Message) error { return s.note(ctx, store, what) }
}

// happenings are what tell notes of one store.
func happenings() []string {
	return []string{"step", "done", "timed", "ran", "came", "came once"}
}

// tell uses every component of a store.
func tell(t *testing.T, p *pawl.Pawl) {
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

// check that everything happened in every store as often as it should.
func (s *story) check(t *testing.T, keys ...string) {
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

func (s *story) register(f *fleet.Fleet) {
	for _, topic := range []string{"step", "done", "timed", "ran"} {
		f.Handle(topic, s.handler("", topic))
	}
	f.HandleInbox("came", func(ctx context.Context, _ *inbox.Message) error { return s.note(ctx, "", "came") })
	f.HandleInboxTx("came once", func(ctx context.Context, _ outbox.Tx, _ *inbox.Message) error { return s.note(ctx, "", "came once") })
}

// OBX-066, D-94: every component works in every store, with handlers registered once.
func TestEveryComponentInEveryStore(t *testing.T) {
	t.Parallel()
	pg, _ := servers(t, 1)
	dbs := slices.Concat(files(t, "a", "b", "c"), pg, sqlServers(t, 1))
	f := open(t, fleet.Static(dbs...), quick())
	s := &story{seen: map[string]int{}}
	s.register(f)
	start(t, f)
	var keys []string
	for _, d := range dbs {
		keys = append(keys, d.Key)
	}
	for _, key := range keys {
		store, err := f.Store(t.Context(), key)
		must(t, err)
		tell(t, store.Pawl)
	}
	s.check(t, keys...)
}

// D-94: a fleet of one behaves as pawl.New does: the same story, the same happenings.
func TestFleetOfOne(t *testing.T) {
	t.Parallel()
	s := &story{seen: map[string]int{}}
	db := dbtest.SQLiteAt(t, pathOf(file(t, "plain")), sqlite.Options{})
	p, err := pawl.New(db, pawl.Options{})
	must(t, err)
	for _, topic := range []string{"step", "done", "timed", "ran"} {
		p.Handle(topic, s.handler("plain", topic))
	}
	p.Inbox.Handle("came", func(ctx context.Context, _ *inbox.Message) error { return s.note(ctx, "plain", "came") })
	p.Inbox.HandleTx("came once", func(ctx context.Context, _ outbox.Tx, _ *inbox.Message) error {
		return s.note(ctx, "plain", "came once")
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	tell(t, p)
	s.check(t, "plain")
	cancel()
	must(t, <-ended)
}

// OBX-072, D-94: a handler's store is at hand, with all its components; elsewhere there is none.
func TestStoreOf(t *testing.T) {
	t.Parallel()
	if fleet.StoreOf(t.Context()) != nil {
		t.Error("a store without a handler")
	}
	f := open(t, fleet.Static(files(t, "a", "b")...), quick())
	r := newRecord()
	f.Use(func(next outbox.Handler) outbox.Handler {
		return outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) error {
			if fleet.StoreOf(ctx) == nil {
				t.Error("middleware does not know its store")
			}
			return next.Handle(ctx, m)
		})
	})
	f.Handle("first", outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) error {
		s := fleet.StoreOf(ctx)
		db, err := s.DB()
		if err != nil {
			return err
		}
		return db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
			_, err := s.Pawl.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t", Payload: fmt.Append(m.Payload, " in ", s.Key)})
			return err
		})
	}))
	f.Handle("t", r)
	start(t, f)
	for _, key := range []string{"a", "b"} {
		_, err := box(t, f, key).Enqueue(t.Context(), outbox.Message{Topic: "first", Payload: []byte(key)})
		must(t, err)
	}
	for _, key := range []string{"a", "b"} {
		r.until(t, key, 1)
	}
	if r.bodies["a in a"] != 1 || r.bodies["b in b"] != 1 {
		t.Errorf("handled: %v", r.bodies)
	}
}

// D-203: a batch has messages of one store only, and waits for no more handlers than the fleet has.
func TestBatchesOfStores(t *testing.T) {
	t.Parallel()
	opts := quick()
	opts.Handlers = 3
	f := open(t, fleet.Static(files(t, "a", "b")...), opts)
	var mu sync.Mutex
	got := map[string]int{}
	f.HandleBatch("t", func(ctx context.Context, messages []*outbox.Message) []error {
		mu.Lock()
		defer mu.Unlock()
		key := fleet.StoreOf(ctx).Key
		for _, m := range messages {
			if !strings.HasPrefix(string(m.Payload), key) {
				t.Errorf("a message of %s in a batch of %s", m.Payload, key)
			}
		}
		got[key] += len(messages)
		return make([]error, len(messages))
	}, outbox.BatchOptions{Max: 10})
	for _, key := range []string{"a", "b"} {
		enqueue(t, f, key, 20)
	}
	start(t, f)
	dbtest.Until(t, "all are handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return got["a"] == 20 && got["b"] == 20
	})
}
