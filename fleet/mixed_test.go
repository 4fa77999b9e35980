package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/outbox"
)

// OBX-066, OBX-071, OBX-107, D-90, D-94: tenants' messages never cross stores, whatever their engines, and every line of
// the log says which store it is about.
func TestTenantCanaries(t *testing.T) {
	t.Parallel()
	keys := make([]string, 18)
	for i := range keys {
		keys[i] = fmt.Sprintf("tenant-%02d", i)
	}
	pg, _ := servers(t, 3)
	dbs := slices.Concat(files(t, keys...), pg, sqlServers(t, 3))
	out, r := &logs{}, newRecord()
	o := quick()
	o.Logger, o.Active, o.Pawl.BatchSize, o.KeepReady = out.logger(), 4, 7, 5
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) error {
		s := fleet.StoreOf(ctx)
		if of, _, _ := strings.Cut(string(m.Payload), "/"); of != s.Key {
			t.Errorf("a message of %q came to %q", of, s.Key)
		}
		if _, err := s.Pawl.Outbox.Get(ctx, m.Position); err != nil {
			t.Errorf("%q has no message %d: %v", s.Key, m.Position, err)
		}
		return r.Handle(ctx, m)
	}))
	start(t, f)
	sent := canaries(t, f, dbs)
	for key, n := range sent {
		r.until(t, key, n)
	}
	r.once(t)
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, " store=") {
			t.Errorf("a line without store: %s", line)
			break
		}
	}
	if !strings.Contains(out.String(), "msg=handling store=tenant-07") {
		t.Error("handling is not logged with its store")
	}
}

// canaries enqueues in random stores from several goroutines.
func canaries(t *testing.T, f *fleet.Fleet, dbs []fleet.Database) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var producers sync.WaitGroup
	sent := map[string]int{}
	for p := range 4 {
		producers.Go(func() {
			for i := range 60 {
				key := dbs[rand.IntN(len(dbs))].Key
				o, err := outboxOf(f, key)
				if err == nil {
					_, err = o.Enqueue(t.Context(), outbox.Message{Topic: "t", Payload: fmt.Appendf(nil, "%s/%d/%d", key, p, i)})
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				sent[key]++
				mu.Unlock()
			}
		})
	}
	producers.Wait()
	return sent
}
