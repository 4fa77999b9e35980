package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/fleet"
)

// Scenario V: what a fleet costs that has nothing to do.

const (
	fleetFiles   = 1000
	fleetServers = 200
	// settling is how long it takes until all stores are cold.
	settling = 35 * time.Second
	// sampling is how often connections are counted.
	sampling = 100 * time.Millisecond
)

// idleFor is how long an idle fleet is watched, at n = 60 000.
const idleFor = time.Minute

func idleFleets(n int) []scenario {
	title := fmt.Sprintf("%d SQLite files and %d databases on one server, nothing to do", fleetFiles, fleetServers)
	took := max(10*time.Second, idleFor*time.Duration(min(n, 60_000))/60_000)
	return []scenario{{"V", "postgres", title, nil, []system{
		{"all", n, idleFleet(everything, took)},
		{"the files alone", n, idleFleet(some(fleetFiles, 0), took)},
		{"the server's alone", n, idleFleet(some(0, fleetServers), took)},
	}}}
}

// chooser chooses some databases of the ensemble.
type chooser func(e *ensemble) []fleet.Database

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
		_, end, err := runFleet(ctx, choose(e), engines(), func(f *fleet.Fleet) { handleAll(f, func(string) {}) })
		if err != nil {
			return err
		}
		time.Sleep(settling)
		if err := r.watched(ctx, took); err != nil {
			return err
		}
		return end()
	}
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
	r.figures[colGoroutines] = float64(runtime.NumGoroutine())
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
