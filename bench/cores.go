package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A scenario is measured on so many cores of the machine in turn (-cores): this program, its worker processes and the
// server share them.

// onCores is between a system's name and on how many cores it is measured: all are compared with the first.
const onCores = ", cores: "

// waited counts what connections that worked waited for, "" for nothing, by system.
type waited map[string]map[string]int

// scaled returns the scenario of pawl alone, each system on so many cores in turn, as far as the machine has them.
func (s scenario) scaled(counts []int, waits waited) scenario {
	systems := slices.DeleteFunc(slices.Clone(s.systems), func(sys system) bool {
		processes := strings.HasSuffix(sys.name, " process") || strings.HasSuffix(sys.name, " processes")
		return sys.name != s.systems[0].name && !processes
	})
	s.systems, s.title = nil, s.title+"; on so many cores, which the server shares"
	if s.main == nil {
		s.main = []string{colRate}
	}
	for _, sys := range systems {
		for _, k := range counts {
			if k > runtime.NumCPU() {
				break
			}
			name := sys.name + onCores + strconv.Itoa(k)
			s.systems = append(s.systems, system{name, sys.n, pinned(k, sys.run, waits, name)})
		}
	}
	return s
}

// pinned measures on the first k cores.
func pinned(k int, m measurement, waits waited, name string) measurement {
	return func(ctx context.Context, r *run) error {
		if err := r.pin(ctx, k); err != nil {
			return err
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(k))
		defer func() { _ = r.pin(context.WithoutCancel(ctx), runtime.NumCPU()) }()
		if r.server == nil {
			return m(ctx, r)
		}
		if waits[name] == nil {
			waits[name] = map[string]int{}
		}
		sampled, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- r.server.waiting(sampled, waits[name]) }()
		err := m(ctx, r)
		stop()
		return cmp.Or(err, <-done)
	}
}

// pin keeps this process and the server, which has to run on this machine, on the first k cores. What they start later
// stays there, too.
func (r *run) pin(ctx context.Context, k int) error {
	pids := []int{os.Getpid()}
	if r.server != nil {
		if r.server.pid == 0 {
			return errors.New("the server runs on another machine")
		}
		pids = append(pids, r.server.pid)
		for child := range children(r.server.pid) {
			pids = append(pids, child)
		}
	}
	for _, pid := range pids {
		if out, err := exec.CommandContext(ctx, "taskset", "-apc", fmt.Sprintf("0-%d", k-1), strconv.Itoa(pid)).CombinedOutput(); err != nil && stat(pid) != nil {
			return fmt.Errorf("taskset: %w: %s", err, out)
		}
	}
	return nil
}

// waiting counts, until ctx ends, what our connections that work wait for.
func (s *server) waiting(ctx context.Context, counts map[string]int) error {
	return s.sample(ctx, 20*time.Millisecond, func(conn *pgx.Conn) {
		rows, err := conn.Query(ctx, `SELECT coalesce(wait_event_type || ' ' || wait_event, '') FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()`)
		if err != nil {
			return // ctx has ended
		}
		events, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return
		}
		for _, event := range events {
			counts[event]++
		}
	})
}

// sample asks the server something every so often until ctx ends.
func (s *server) sample(ctx context.Context, every time.Duration, ask func(*pgx.Conn)) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for tick := time.NewTicker(every); ; ask(conn) {
		select {
		case <-ctx.Done():
			tick.Stop()
			return nil
		case <-tick.C:
		}
	}
}

// print writes what connections waited for most.
func (w waited) print(out io.Writer, s *scenario) {
	for _, sys := range s.systems {
		counts := w[sys.name]
		total := 0
		for _, n := range counts {
			total += n
		}
		if total == 0 {
			continue
		}
		events := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] })
		var most []string
		for _, event := range events[:min(4, len(events))] {
			most = append(most, fmt.Sprintf("%s %.0f %%", cmp.Or(event, "running"), 100*float64(counts[event])/float64(total)))
		}
		fmt.Fprintf(out, "\n%s: connections that worked: %s\n", sys.name, strings.Join(most, ", "))
	}
}
