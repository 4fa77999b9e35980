//go:build linux || darwin

package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/pgcluster"
	"github.com/bravellian/pawl/outbox"
)

// D-91, D-92: three servers and a file; one server loses power in the middle and
// comes back. The others go on meanwhile, nothing that was enqueued is lost, and
// its work resumes.
func TestOneOfThreeClustersDies(t *testing.T) {
	t.Parallel()
	dbs := []fleet.Database{{Key: "file", URL: "sqlite:" + filepath.Join(t.TempDir(), "file.db")}}
	clusters := map[string]*pgcluster.Cluster{}
	for _, key := range []string{"a", "b", "c"} {
		clusters[key] = startCluster(t)
		dbs = append(dbs, fleet.Database{Key: key, URL: clusters[key].URL()})
	}
	f, err := fleet.New(fleet.Static(dbs...), fleet.Options{
		Engines:   map[string]fleet.Opener{"postgres": postgres.OpenURL, "sqlite": sqlite.OpenURL},
		Pawl:      pawl.Options{Lease: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))},
		KeepReady: 1, PollMax: time.Second, Cool: 100 * time.Millisecond,
	})
	check(t, err)
	if err := f.MigrateAll(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	book := &ledger{enqueued: map[string][]outbox.MessageID{}, handled: map[string]map[outbox.MessageID]int{}}
	f.Handle("canary", func(ctx context.Context, m *outbox.Message) error {
		if at := fleet.StoreOf(ctx).Key; at != string(m.Payload) {
			t.Errorf("a message of %s came to the handler as one of %s", m.Payload, at)
		}
		book.done(string(m.Payload), m.ID)
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { check(t, f.Run(ctx)) })
	produce, enough := context.WithCancel(ctx)
	for _, d := range dbs {
		running.Go(func() { book.produce(produce, t, f, d.Key) })
	}

	book.untilHandled(t, 100, "a", "b", "c", "file")
	check(t, clusters["b"].Kill())
	dbtest.Until(t, "the dead one is seen to fail", func() bool { return !f.Operator(access.Key{}).State().Healthy })
	book.untilHandled(t, 200, "a", "c", "file")
	check(t, clusters["b"].Restart(t.Context()))
	book.untilHandled(t, 200, "b")
	enough()
	dbtest.Until(t, "everything that was enqueued is handled", book.complete)
	dbtest.Until(t, "the fleet is well again", func() bool { return f.Operator(access.Key{}).State().Healthy })
	stop()
	running.Wait()
	check(t, f.Close())
}

func startCluster(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{})
	check(t, err)
	t.Cleanup(func() { _ = c.Stop() })
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// ledger is what was enqueued for sure, and what was handled.
type ledger struct {
	mu       sync.Mutex
	enqueued map[string][]outbox.MessageID
	handled  map[string]map[outbox.MessageID]int
}

func (l *ledger) done(key string, id outbox.MessageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handled[key] == nil {
		l.handled[key] = map[outbox.MessageID]int{}
	}
	l.handled[key][id]++
}

// produce enqueues one message after the other. One whose outcome is unknown is
// enqueued again under its id; one that failed was not enqueued.
func (l *ledger) produce(ctx context.Context, t *testing.T, f *fleet.Fleet, key string) {
	box, err := outboxOf(f, key)
	check(t, err)
	for m := (outbox.Message{Topic: "canary", Payload: []byte(key)}); ctx.Err() == nil; {
		id, err := box.Enqueue(ctx, m)
		switch {
		case errors.Is(err, engine.ErrCommitUnknown):
			m.ID = id
		case err == nil:
			m.ID = outbox.MessageID{}
			l.mu.Lock()
			l.enqueued[key] = append(l.enqueued[key], id)
			l.mu.Unlock()
		}
		_ = engine.Sleep(ctx, 2*time.Millisecond) // leave the machine to the others
	}
}

// untilHandled waits until so many more messages of each store were handled.
func (l *ledger) untilHandled(t *testing.T, more int, keys ...string) {
	t.Helper()
	want := map[string]int{}
	for _, key := range keys {
		want[key] = l.count(key) + more
	}
	for _, key := range keys {
		dbtest.Until(t, fmt.Sprintf("%d messages of %s are handled", more, key), func() bool { return l.count(key) >= want[key] })
	}
}

func (l *ledger) count(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.handled[key])
}

func (l *ledger) complete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, ids := range l.enqueued {
		for _, id := range ids {
			if l.handled[key][id] == 0 {
				return false
			}
		}
	}
	return true
}
