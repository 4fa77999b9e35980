package fleet_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// listed is who works on a file, as another process sees it.
func listed(t testing.TB, db engine.DB) []registry.Info {
	t.Helper()
	all, err := registry.List(t.Context(), db)
	must(t, err)
	return all
}

// A fleet is in the list of each store that it worked on, and leaves it when it
// stops; stores that it never had to do with are left alone.
func TestFleetLeavesTheListsOfWorkers(t *testing.T) {
	t.Parallel()
	left, took := comeAndGo(t)
	for took > 2*time.Second { // there is a limit: a busy machine may try again
		left, took = comeAndGo(t)
	}
	for key, all := range left {
		if len(all) != 0 {
			t.Errorf("%s still lists %+v", key, all)
		}
	}
}

// comeAndGo runs a fleet and returns who is listed afterwards, and how long stopping
// took.
func comeAndGo(t *testing.T) (left map[string][]registry.Info, took time.Duration) {
	t.Helper()
	dbs := files(t, "a", "b", "idle")
	f := open(t, listOf(dbs...), quick())
	r := newRecord()
	f.Handle("t", r.Handle)
	stop := start(t, f)
	for _, key := range []string{"a", "b"} {
		enqueue(t, f, key, 1)
		r.until(t, key, 1)
	}
	stores := map[string]engine.DB{}
	for _, d := range dbs {
		stores[d.Key] = dbtest.SQLiteAt(t, pathOf(d), relaxed())
	}
	for _, key := range []string{"a", "b"} {
		all := listed(t, stores[key])
		if len(all) != 1 || !all[0].Shared || !all[0].Alive || len(all[0].Queues) == 0 {
			t.Errorf("%s lists %+v", key, all)
		}
	}
	began := time.Now()
	stop()
	took, left = time.Since(began), map[string][]registry.Info{}
	for key, db := range stores {
		left[key] = listed(t, db)
	}
	return left, took
}

// A store that fails, or hangs, does not keep a fleet from leaving the others, nor
// from stopping.
func TestFleetLeavesWhatItCan(t *testing.T) {
	t.Parallel()
	w := newWard()
	dbs := files(t, "a", "hangs", "fails")
	var ill atomic.Bool
	hangs := w.admits(dbs[1], func(ctx context.Context, op string) error {
		if !ill.Load() || op != "worker/leave" {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	fails := w.admits(dbs[2], func(_ context.Context, _ string) error {
		if !ill.Load() {
			return nil
		}
		return &engine.Error{Op: "x", Class: engine.ErrUnreachable, Err: errors.New("the test wants it away")}
	})
	o := quick()
	o.Engines = w.engines()
	f := open(t, listOf(dbs[0], hangs, fails), o)
	r := newRecord()
	f.Handle("t", r.Handle)
	stop := start(t, f)
	for _, key := range []string{"a", "hangs", "fails"} {
		enqueue(t, f, key, 1)
		r.until(t, key, 1)
	}
	ill.Store(true)
	stop()
	if all := listed(t, dbtest.SQLiteAt(t, pathOf(dbs[0]), relaxed())); len(all) != 0 {
		t.Errorf("a still lists %+v", all)
	}
	if all := listed(t, dbtest.SQLiteAt(t, pathOf(dbs[1]), relaxed())); len(all) != 1 {
		t.Errorf("the store that hangs lists %+v: it should have been asked without result", all)
	}
}

// A fleet drains the stores beside what is paused in them, and does not spin over
// that.
func TestFleetDrainsBesidePauses(t *testing.T) {
	t.Parallel()
	dbs := files(t, "queue", "topic", "none")
	o := quick()
	o.Pawl.StopWhenEmpty = true
	f := open(t, listOf(dbs...), o)
	r := newRecord()
	f.Handle("t", r.Handle)
	for _, d := range dbs {
		enqueueIn(t, another(t, d), d.Key, 3)
	}
	admin := func(d fleet.Database) *pause.Pauses { return pause.New(dbtest.SQLiteAt(t, pathOf(d), relaxed()), nil) }
	for i, c := range []struct {
		kind pause.Kind
		name string
	}{{pause.Queue, "default"}, {pause.Topic, "t"}} {
		if _, err := admin(dbs[i]).Pause(t.Context(), c.kind, c.name, ""); err != nil {
			t.Fatal(err)
		}
	}
	drain(t, f)
	if got := r.counts(); got["none"] != 3 || len(got) != 1 {
		t.Fatalf("handled %v", got)
	}
	for _, d := range dbs[:2] {
		if c, err := another(t, d).Count(t.Context()); err != nil || c.Ready != 3 {
			t.Errorf("%s has %+v, %v", d.Key, c, err)
		}
	}
}

// A queue that is resumed in a store is worked on again.
func TestFleetSeesResumption(t *testing.T) {
	t.Parallel()
	d := file(t, "a")
	f := open(t, listOf(d), quick())
	r := newRecord()
	f.Handle("t", r.Handle)
	admin := pause.New(dbtest.SQLiteAt(t, pathOf(d), relaxed()), nil)
	if _, err := admin.Pause(t.Context(), pause.Queue, "default", ""); err != nil {
		t.Fatal(err)
	}
	enqueueIn(t, another(t, d), "a", 3)
	start(t, f)
	dbtest.Until(t, "the store was looked at", func() bool { return !state(f, "a").LastSuccess.IsZero() })
	if r.of("a") != 0 {
		t.Fatalf("handled %d of a paused queue", r.of("a"))
	}
	if _, err := admin.Resume(t.Context(), pause.Queue, "default"); err != nil {
		t.Fatal(err)
	}
	r.until(t, "a", 3)
}

func relaxed() sqlite.Options { return sqlite.Options{Relaxed: true} }
