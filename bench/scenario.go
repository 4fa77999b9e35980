package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
)

// scenario is one question, asked of several systems in turn.
type scenario struct {
	name   string
	engine string
	title  string
	main   []string // the figures that are compared
	// systems in the order of the table. The first is pawl, the rest are what
	// it is compared with.
	systems []system
}

// system is pawl or something to compare it with.
type system struct {
	name string
	n    int
	run  measurement
}

// plain is the name of a system that has nothing of what the others of its scenario have: they
// are compared with it alone.
const plain = "plain"

// measurement measures a system once, after a warm-up, and writes into the run's figures.
type measurement = func(ctx context.Context, r *run) error

// scenarios lists everything; n is the size of the batch scenarios.
func scenarios(n int) []scenario {
	var all []scenario
	for _, build := range []func(int) []scenario{cycles, steadies, singles, standalones, heldSnapshots, calms, pickups, fanIns, manyProcesses, oneByOnes, latenesses, backlogs, fanOuts, onces, typeds, larges, histories, loads, delays, overloads, bystandings, flows, stepFlows, parkedFlows, fairs, uniques, utilizations, manyKeys, idleFleets, workedFleets, busyFleets, coldFleets, sickFleets, watchedCycles} {
		all = append(all, build(n)...)
	}
	return all
}

// measure repeats all systems, one after the other each time, so that whatever
// slows the machine down for a while slows down all of them.
//
// A system that fails has no row, fail is told, and the others go on.
func (s *scenario) measure(ctx context.Context, o options, srv *server, fail func(error)) (map[string][]figures, error) {
	failed := map[string]bool{}
	results := map[string][]figures{}
	for rep := range o.reps {
		for _, sys := range s.systems {
			if !wanted(o.systems, sys.name) || failed[sys.name] {
				continue
			}
			f, err := s.once(ctx, o, srv, sys, rep)
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				failed[sys.name] = true
				delete(results, sys.name)
				fail(fmt.Errorf("%s on %s, %s: %w", s.name, s.engine, sys.name, err))
				continue
			}
			results[sys.name] = append(results[sys.name], f)
			if o.verbose {
				fmt.Fprintf(os.Stderr, "%s %s %d %s: %v\n", s.name, s.engine, rep+1, sys.name, f)
			}
		}
	}
	return results, nil
}

// once measures one system once, in a place of its own.
func (s *scenario) once(ctx context.Context, o options, srv *server, sys system, rep int) (figures, error) {
	dir, err := os.MkdirTemp("", "pawl-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &run{n: sys.n, dir: dir, figures: figures{}}
	if s.engine == "postgres" {
		r.server = srv
		if err := srv.reset(ctx); err != nil {
			return nil, err
		}
	}
	if o.profiles != "" {
		r.profile = filepath.Join(o.profiles, fmt.Sprintf("%s-%s-%s-%d.pprof", s.name, s.engine, strings.ReplaceAll(sys.name, " ", "_"), rep))
	}
	runtime.GC()
	if err := sys.run(ctx, r); err != nil {
		return nil, err
	}
	return r.figures, r.left(ctx)
}

// startProfile begins a CPU profile if one was asked for.
func (r *run) startProfile() (stop func(), err error) {
	if r.profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(r.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
