package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/fleettest"
	"github.com/bravellian/pawl/outbox"
)

// OBX-066, D-94: every component works in every store, with handlers registered once.
func TestEveryComponentInEveryStore(t *testing.T) {
	t.Parallel()
	pg, _ := servers(t, 1)
	fleettest.EveryComponent(t, slices.Concat(files(t, "a", "b", "c"), pg), quick())
}

// D-94: a fleet of one behaves as pawl.New does: the same story, the same happenings.
func TestFleetOfOne(t *testing.T) {
	t.Parallel()
	s := fleettest.NewStory()
	db := dbtest.SQLiteAt(t, pathOf(file(t, "plain")), sqlite.Options{})
	p, err := pawl.New(db, pawl.Options{})
	must(t, err)
	for _, topic := range []string{"step", "done", "timed", "ran"} {
		p.Handle(topic, s.Handler("plain", topic))
	}
	p.HandleInbox("came", func(ctx context.Context, _ *inbox.Message) error { return s.Note(ctx, "plain", "came") })
	p.HandleInboxTx("came once", func(ctx context.Context, _ outbox.Tx, _ *inbox.Message) error {
		return s.Note(ctx, "plain", "came once")
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	fleettest.Use(t, p)
	s.Check(t, "plain")
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
		return func(ctx context.Context, m *outbox.Message) error {
			if fleet.StoreOf(ctx) == nil {
				t.Error("middleware does not know its store")
			}
			return next(ctx, m)
		}
	})
	f.Handle("first", func(ctx context.Context, m *outbox.Message) error {
		s := fleet.StoreOf(ctx)
		db, err := s.DB(access.Key{})
		if err != nil {
			return err
		}
		return db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
			_, err := s.Pawl.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t", Payload: fmt.Append(m.Payload, " in ", s.Key)})
			return err
		})
	})
	f.Handle("t", r.Handle)
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
