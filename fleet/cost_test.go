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
	"github.com/bravellian/pawl/internal/dbtest"
)

const (
	// mostHeap is what an idle store may take of the heap: it took 16 kB on SQLite and 26 on
	// PostgreSQL when this was written, and 330 and 560 before.
	mostHeap = 40_000
	// mostGoroutines is how many of them it may have: the pool's.
	mostGoroutines = 2
	// patience is how long to wait for what takes seconds on a machine that does nothing else.
	patience = 3 * time.Minute
)

// idle measures what stores cost that were polled once and had nothing to do. It must not run beside
// other tests.
func idle(t *testing.T, dbs []fleet.Database, atRest func(*fleet.Fleet) bool) {
	t.Helper()
	heapBefore, goroutinesBefore := heap(), runtime.NumGoroutine()
	o := cold()
	o.PollMin, o.PollMax, o.PollFiles = time.Hour, time.Hour, time.Hour
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", newRecord())
	stop := start(t, f)
	dbtest.UntilWithin(t, patience, "all were polled", func() bool {
		stores := f.Health().Stores
		return len(stores) == len(dbs) && !slices.ContainsFunc(stores, func(s fleet.StoreHealth) bool { return s.NextPoll.IsZero() || s.LastSuccess.IsZero() })
	})
	dbtest.UntilWithin(t, patience, "they hold nothing open", func() bool { return atRest(f) })
	var bytes int64
	dbtest.UntilWithin(t, patience, fmt.Sprintf("%d stores take less than %d B of heap and %d goroutines each", len(dbs), mostHeap, mostGoroutines), func() bool {
		bytes = (heap() - heapBefore) / int64(len(dbs))
		return bytes < mostHeap && runtime.NumGoroutine()-goroutinesBefore <= len(dbs)*mostGoroutines+ownGoroutines
	})
	t.Logf("%d B of heap for each of %d stores", bytes, len(dbs))
	stop()
}

// ownGoroutines is how many a fleet has for itself, polls included.
const ownGoroutines = 64

// heap returns what is reachable.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools kept goes with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
	dbs, _ := servers(t, 20)
	idle(t, dbs, func(f *fleet.Fleet) bool { return f.Health().Connections == 0 })
}
