package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
)

// Scenario V: what a fleet costs that has nothing to do.

const (
	fleetFiles   = 1000
	fleetServers = 200
	// manyFiles and manyServers are as many as one process is meant for.
	manyFiles, manyServers = 10 * fleetFiles, 10 * fleetServers
	// settling is how long it takes until all stores are cold.
	settling = 35 * time.Second
	// sampling is how often connections are counted.
	sampling = 100 * time.Millisecond
)

// idleFor is how long an idle fleet is watched, at n = 60 000.
const idleFor = time.Minute

func idleFleets(n int) []scenario {
	title := fmt.Sprintf("%d SQLite files and %d databases on one server, %d files, and %d databases, nothing to do", fleetFiles, fleetServers, manyFiles, manyServers)
	took := max(10*time.Second, idleFor*time.Duration(min(n, 60_000))/60_000)
	return []scenario{{"V", "postgres", title, nil, []system{
		{"all", n, idleFleet(everything, took)},
		{"the files alone", n, idleFleet(some(fleetFiles, 0), took)},
		{"the server's alone", n, idleFleet(some(0, fleetServers), took)},
		{"ten times the files", n, idleFleet(tenfoldFiles, took)},
		{"ten times the server's", n, idleFleet(tenfoldServers, took)},
	}}}
}

// chooser chooses some databases of the ensemble.
type chooser func(e *ensemble) []fleet.Database

// tenfoldFiles are the files, and copies of the first.
func tenfoldFiles(e *ensemble) []fleet.Database {
	dbs := slices.Clone(e.files)
	for i := range manyFiles - len(dbs) {
		dbs = append(dbs, e.file(fmt.Sprintf("file-more-%05d", i)))
	}
	return dbs
}

// tenfoldServers are the databases on the server, and copies of the first.
func tenfoldServers(e *ensemble) []fleet.Database {
	dbs := slices.Clone(e.servers)
	for i := len(dbs); i < manyServers; i++ {
		dbs = append(dbs, e.database(i))
	}
	return dbs
}

func everything(e *ensemble) []fleet.Database { return slices.Concat(e.files, e.servers) }

func some(files, servers int) chooser {
	return func(e *ensemble) []fleet.Database { return slices.Concat(e.files[:files], e.servers[:servers]) }
}

func idleFleet(choose chooser, took time.Duration) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		e, err := r.server.ensemble(ctx)
		if err != nil {
			return err
		}
		dbs := choose(e)
		if err := errors.Join(copies(e.files[0], dbs), e.copies(ctx, dbs)); err != nil {
			return err
		}
		before, goroutines := heap(), runtime.NumGoroutine()
		f, end, err := runFleet(ctx, dbs, engines(), func(f *fleet.Fleet) { handleAll(f, func(string) {}) })
		if err != nil {
			return err
		}
		if err := settled(ctx, f, len(dbs)); err != nil {
			return err
		}
		if err := r.watched(ctx, took); err != nil {
			return err
		}
		r.figures[colHeap] = (heap() - before) / 1000 / float64(len(dbs))
		r.figures[colGoroutines] = float64(runtime.NumGoroutine()-goroutines) / float64(len(dbs))
		return end()
	}
}

// copies makes those files that are not there: copies of the first.
func copies(of fleet.Database, dbs []fleet.Database) error {
	var text []byte
	for _, d := range dbs {
		if _, err := os.Stat(path(d)); strings.HasPrefix(d.URL, "postgres") || err == nil {
			continue
		}
		if text == nil {
			var err error
			if text, err = os.ReadFile(path(of)); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path(d), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// copies makes those databases on the server that are not there: copies of the first, file by
// file, because so much write-ahead log would be written otherwise.
func (e *ensemble) copies(ctx context.Context, dbs []fleet.Database) error {
	for _, d := range dbs {
		if !strings.HasPrefix(d.URL, "postgres") {
			continue
		}
		var there bool
		if err := e.server.admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", d.Key).Scan(&there); err != nil {
			return err
		}
		if there {
			continue
		}
		if _, err := e.server.admin.Exec(ctx, "CREATE DATABASE "+d.Key+" TEMPLATE "+e.servers[0].Key+" STRATEGY FILE_COPY"); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until all stores were polled, and then until they are cold.
func settled(ctx context.Context, f *fleet.Fleet, stores int) error {
	for since := time.Now(); ; time.Sleep(sampling) {
		h := f.Operator(access.Key{}).State()
		if len(h.Stores) == stores && !slices.ContainsFunc(h.Stores, func(s fleetstate.Store) bool { return s.LastSuccess.IsZero() }) {
			break
		}
		if time.Since(since) > 8*stall {
			return fmt.Errorf("not all of %d stores were polled: %s", stores, h.Summary)
		}
	}
	return engine.Sleep(ctx, settling)
}

// heap returns the bytes that are reachable.
func heap() float64 {
	runtime.GC()
	runtime.GC() // what pools kept goes with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// watched records what this process and the server do while nothing happens.
func (r *run) watched(ctx context.Context, took time.Duration) error {
	stop, err := r.startProfile()
	if err != nil {
		return err
	}
	defer stop()
	before, err := r.server.usage(ctx)
	if err != nil {
		return err
	}
	began, err := r.server.transactions(ctx)
	if err != nil {
		return err
	}
	client, start := clientCPU(), time.Now()
	var conns, files []float64
	for time.Since(start) < took {
		n, err := r.server.connected(ctx)
		if err != nil {
			return err
		}
		conns = append(conns, float64(n))
		files = append(files, float64(openFiles()))
		time.Sleep(sampling)
	}
	spent, wall := clientCPU()-client, time.Since(start)
	after, err := r.server.usage(ctx)
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // idle backends report after a second
	ended, err := r.server.transactions(ctx)
	if err != nil {
		return err
	}
	r.figures[colClientShare] = 100 * spent.Seconds() / wall.Seconds()
	r.figures[colServerShare] = 100 * (after.cpu - before.cpu).Seconds() / wall.Seconds()
	r.figures[colConnections], r.figures[colMostConnections] = mean(conns), slices.Max(conns)
	r.figures[colTransactions] = float64(ended-began) / wall.Seconds()
	r.figures[colFiles] = mean(files)
	r.figures[colMemory] = residentMB()
	return nil
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// transactions counts those of the fleet's databases.
func (s *server) transactions(ctx context.Context) (n int64, err error) {
	err = s.admin.QueryRow(ctx, `SELECT coalesce(sum(xact_commit + xact_rollback), 0)::bigint FROM pg_stat_database WHERE starts_with(datname, $1)`,
		databasePrefix).Scan(&n)
	return n, err
}

// connected counts the connections to the fleet's databases.
func (s *server) connected(ctx context.Context) (n int, err error) {
	err = s.admin.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE starts_with(datname, $1) AND backend_type = 'client backend'`,
		databasePrefix).Scan(&n)
	return n, err
}

// openFiles counts what this process has open of the fleet's files. 0 where that
// is not to be had.
func openFiles() (n int) {
	all, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range all {
		if name, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(name, "/file-") {
			n++
		}
	}
	return n
}

// residentMB is the memory of this process. 0 where that is not to be had.
func residentMB() float64 {
	text, _ := os.ReadFile("/proc/self/statm")
	var size, resident float64
	_, _ = fmt.Sscan(string(text), &size, &resident)
	return resident * float64(os.Getpagesize()) / 1e6
}
