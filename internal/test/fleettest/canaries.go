package fleettest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// Canaries enqueues in random stores of a fleet, and checks that every message is handled once
// and in its own store, and that every line of the log says which store it is about.
func Canaries(t testing.TB, dbs []fleet.Database, o fleet.Options) {
	t.Helper()
	out, c := &lines{}, &tally{handled: map[string]int{}}
	o.Pawl.Logger, o.Active, o.Pawl.BatchSize, o.KeepReady = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})), 4, 7, 5
	f := open(t, dbs, o)
	f.Handle("t", func(ctx context.Context, m *outbox.Message) error {
		s := fleet.StoreOf(ctx)
		if of, _, _ := strings.Cut(string(m.Payload), "/"); of != s.Key {
			t.Errorf("a message of %q came to %q", of, s.Key)
		}
		if _, err := s.Pawl.Outbox.GetByPosition(ctx, m.Position); err != nil {
			t.Errorf("%q has no message %d: %v", s.Key, m.Position, err)
		}
		c.add(string(m.Payload))
		return ctx.Err()
	})
	start(t, f)
	const producers, each = 4, 60
	enqueue(t, f, dbs, producers, each)
	dbtest.Until(t, "every message is handled", func() bool { return c.size() >= producers*each })
	c.once(t)
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, " store=") {
			t.Errorf("a line without store: %s", line)
			break
		}
	}
	if !strings.Contains(out.String(), "msg=handling store="+dbs[0].Key) {
		t.Error("handling is not logged with its store")
	}
}

// enqueue stores messages that carry their store's key, from several goroutines.
func enqueue(t testing.TB, f *fleet.Fleet, dbs []fleet.Database, producers, each int) {
	t.Helper()
	var all sync.WaitGroup
	for p := range producers {
		all.Go(func() {
			for i := range each {
				key := dbs[rand.IntN(len(dbs))].Key
				store, err := f.Pawl(t.Context(), key)
				if err == nil {
					_, err = store.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t", Payload: fmt.Appendf(nil, "%s/%d/%d", key, p, i)})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// tally counts what was handled, by payload.
type tally struct {
	mu      sync.Mutex
	handled map[string]int
}

func (c *tally) add(payload string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handled[payload]++
}

func (c *tally) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.handled)
}

func (c *tally) once(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for payload, n := range c.handled {
		if n != 1 {
			t.Errorf("%s was handled %d times", payload, n)
		}
	}
}

// lines is a log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
