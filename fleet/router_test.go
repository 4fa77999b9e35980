package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/outbox"
)

// components are all that the router gives for a key.
func components(f *fleet.Fleet, key string) map[string]func() (any, error) {
	return map[string]func() (any, error){
		"pawl":   func() (any, error) { return f.Pawl(context.Background(), key) },
		"outbox": func() (any, error) { return outboxOf(f, key) },
		"store":  func() (any, error) { return f.Operator(access.Key{}).Store(context.Background(), key) },
	}
}

// OBX-070, OBX-072, OBX-074, OBX-121, D-90, D-94: by string and by UUID, the same instance for everybody.
func TestRouterGivesTheSameInstance(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0A1B2C3D-0000-4000-8000-ABCDEFABCDEF")
	if key := id.String(); key != "0a1b2c3d-0000-4000-8000-abcdefabcdef" {
		t.Fatalf("key of a UUID: %q", key)
	}
	f := open(t, fleet.Static(blank(t, id.String()), blank(t, "Tenant Ä")), quick())
	for _, key := range []string{id.String(), "Tenant Ä"} {
		for name, get := range components(f, key) {
			var mu sync.Mutex
			var all sync.WaitGroup
			seen := map[any]bool{}
			for range 16 {
				all.Go(func() {
					c, err := get()
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					seen[c] = true
				})
			}
			all.Wait()
			if len(seen) != 1 {
				t.Errorf("%d instances of %s of %q", len(seen), name, key)
			}
		}
	}
	a, _ := outboxOf(f, id.String())
	b, _ := outboxOf(f, "Tenant Ä")
	if a == b {
		t.Error("two stores have one outbox")
	}
	if s, err := f.Operator(access.Key{}).Store(t.Context(), "Tenant Ä"); err != nil || s.Key != "Tenant Ä" || s.Database().Key != s.Key {
		t.Errorf("store %v, %v", s, err)
	}
}

// OBX-073, D-90: an unknown key is an error that names it, a blank one a mistake.
func TestRouterRefuses(t *testing.T) {
	t.Parallel()
	f := open(t, fleet.Static(blank(t, "known")), quick())
	for name, get := range components(f, "some-body") {
		if c, err := get(); !errors.Is(err, fleet.ErrUnknownStore) || !strings.Contains(err.Error(), `"some-body"`) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	for _, key := range []string{"", "  ", strings.Repeat("x", limits.StoreKey+1)} {
		for name, get := range components(f, key) {
			if _, err := get(); !errors.Is(err, engine.ErrInvalid) || errors.Is(err, fleet.ErrUnknownStore) {
				t.Errorf("%s of %.10q: %v", name, key, err)
			}
		}
	}
	if _, err := outboxOf(f, "KNOWN"); !errors.Is(err, fleet.ErrUnknownStore) {
		t.Errorf("keys are told apart by case: %v", err)
	}
}

// D-92: unknown keys have the list read once, however many and whoever they are.
func TestUnknownKeysRefreshOnce(t *testing.T) {
	t.Parallel()
	l := listOf(blank(t, "known"))
	f := open(t, l, quick())
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if _, err := outboxOf(f, fmt.Sprint("unknown ", i%5)); !errors.Is(err, fleet.ErrUnknownStore) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := l.asked(); n != 1 {
		t.Errorf("the list was read %d times", n)
	}
	must(t, f.Refresh(t.Context())) // always does
	if n := l.asked(); n != 2 {
		t.Errorf("the list was read %d times", n)
	}
}

// D-92: a key that is new in the list is found without waiting for the next refresh.
func TestUnknownKeyIsDiscovered(t *testing.T) {
	t.Parallel()
	l := listOf()
	f := open(t, l, quick())
	l.set(blank(t, "new"))
	if _, err := outboxOf(f, "new"); err != nil {
		t.Error(err)
	}
}

// D-91, D-92: a discovery that hangs holds up nobody whose store is known, and others
// no longer than they want to wait. Whoever gave up has not spoiled it for the rest.
func TestDiscoveryHangs(t *testing.T) {
	t.Parallel()
	known, late := blank(t, "known"), blank(t, "late")
	l := listOf(known)
	f := open(t, l, quick())
	must(t, f.Refresh(t.Context()))
	l.set(known, late)
	l.hangs(true)
	ctx, cancel := context.WithCancel(t.Context())
	hung := make(chan error, 1)
	go func() { hung <- f.Refresh(ctx) }()
	for l.asked() < 2 {
		if _, err := outboxOf(f, "known"); err != nil {
			t.Fatal(err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := f.Pawl(gone, "late"); !errors.Is(err, context.Canceled) || !errors.Is(err, fleet.ErrUnknownStore) {
		t.Errorf("with a context that is over: %v", err)
	}
	if _, err := outboxOf(f, "known"); err != nil {
		t.Error(err)
	}
	l.hangs(false)
	cancel()
	if err := <-hung; !errors.Is(err, context.Canceled) {
		t.Errorf("the refresh that hung: %v", err)
	}
	if h := f.Operator(access.Key{}).State(); !h.Healthy {
		t.Errorf("a caller who left made the fleet unwell: %s", h.Summary)
	}
}

// OBX-072, D-94: setting up happens once a store, before anything is done with it; later is too late.
func TestSetup(t *testing.T) {
	t.Parallel()
	f := open(t, fleet.Static(blank(t, "a"), blank(t, "b")), quick())
	seen := map[string]int{}
	f.Setup(func(s *fleet.Store) {
		if s.Pawl.Outbox == nil || s.Pawl.Jobs == nil {
			t.Error("set up without components")
		}
		seen[s.Key]++
	})
	for range 3 {
		box(t, f, "a")
	}
	if len(seen) != 1 || seen["a"] != 1 {
		t.Errorf("set up: %v", seen)
	}
	for name, register := range map[string]func(){
		"handler": func() { f.Handle("x", newRecord().Handle) }, "batch": func() { f.HandleBatch("x", nil, outbox.BatchOptions{}) }, "middleware": func() { f.Use() }, "inbox": func() { f.HandleInbox("x", nil) },
		"inbox in a transaction": func() { f.HandleInboxTx("x", nil) }, "setup": func() { f.Setup(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: registered after a store was used", name)
				}
			}()
			register()
		}()
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := fleet.New(nil, quick()); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("no discovery: %v", err)
	}
	if _, err := fleet.New(fleet.Static(), fleet.Options{}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("no engines: %v", err)
	}
}
