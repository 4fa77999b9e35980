package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

const (
	// mostHeap is what an idle store may take of the heap: it took 16 kB on SQLite and 20 on
	// PostgreSQL when this was written, and 330 and 560 before.
	mostHeap = 40_000
	// mostGoroutines is how many of them it may have: the pool's.
	mostGoroutines = 2
	// patience is how long to wait for what takes seconds on a machine that does nothing else.
	patience = 3 * time.Minute
)

// idle checks what stores cost that were polled once and had nothing to do: what many take more than a
// few, so that what a fleet has once counts for none of them. It must not run beside other tests.
func idle(t *testing.T, dbs []fleet.Database, atRest func(*fleet.Fleet) bool) {
	t.Helper()
	few := len(dbs) / 4
	heapOfFew, goroutinesOfFew := taken(t, dbs[:few], atRest)
	heapOfAll, goroutinesOfAll := taken(t, dbs, atRest)
	more := len(dbs) - few
	bytes := (heapOfAll - heapOfFew) / more
	t.Logf("%d B of heap for each of %d stores, and %d goroutines more for all", bytes, len(dbs), goroutinesOfAll-goroutinesOfFew)
	if bytes > mostHeap {
		t.Errorf("%d B of heap each, want at most %d", bytes, mostHeap)
	}
	if goroutinesOfAll-goroutinesOfFew > more*mostGoroutines+ownGoroutines {
		t.Errorf("%d goroutines for %d stores, %d for %d: want at most %d each", goroutinesOfAll, len(dbs), goroutinesOfFew, few, mostGoroutines)
	}
}

// taken is what a fleet takes whose stores have been polled.
func taken(t *testing.T, dbs []fleet.Database, atRest func(*fleet.Fleet) bool) (bytes, goroutines int) {
	t.Helper()
	heapBefore, goroutinesBefore := heap(), runtime.NumGoroutine()
	o := cold()
	o.PollMin, o.PollMax, o.PollFiles = time.Hour, time.Hour, time.Hour
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", newRecord().Handle)
	stop := start(t, f)
	dbtest.UntilWithin(t, patience, "all were polled", func() bool {
		stores := f.Operator(access.Key{}).State().Stores
		return len(stores) == len(dbs) && !slices.ContainsFunc(stores, func(s fleetstate.Store) bool { return s.NextPoll.IsZero() || s.LastSuccess.IsZero() })
	})
	dbtest.UntilWithin(t, patience, "they hold nothing open", func() bool { return atRest(f) })
	bytes, goroutines = heap()-heapBefore, runtime.NumGoroutine()-goroutinesBefore
	stop()
	must(t, f.Close())
	return bytes, goroutines
}

// ownGoroutines is how many of a fleet's polls may be about to end.
const ownGoroutines = 32

// heap returns what is reachable.
func heap() int {
	runtime.GC()
	runtime.GC() // what pools kept goes with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// together are n migrated files in one directory, which nobody wrote to for long.
func together(t *testing.T, n int) (dbs []fleet.Database) {
	t.Helper()
	empty, err := os.ReadFile(pathOf(file(t, "first")))
	must(t, err)
	dir, old := t.TempDir(), time.Now().Add(-time.Hour)
	for i := range n {
		d := fleet.Database{Key: fmt.Sprintf("file-%04d", i), URL: "sqlite:" + filepath.Join(dir, fmt.Sprintf("%04d.db", i))}
		must(t, os.WriteFile(pathOf(d), empty, 0o600))
		must(t, os.Chtimes(pathOf(d), old, old))
		dbs = append(dbs, d)
	}
	return dbs
}

// D-262: an idle file costs at most 40 kB of heap and two goroutines, and holds nothing open.
func TestIdleFileIsCheap(t *testing.T) {
	dbs := together(t, 200)
	idle(t, dbs, func(*fleet.Fleet) bool { return openFiles(t, dbs[0]) == 0 })
}

// D-262: and so does an idle schema, though each has statements under names of its own.
func TestIdleSchemaIsCheap(t *testing.T) {
	dbs, _ := servers(t, 16)
	idle(t, dbs, func(f *fleet.Fleet) bool { return f.Operator(access.Key{}).State().Connections == 0 })
}
