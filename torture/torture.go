//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/torture/internal/nemesis"
	"github.com/bravellian/pawl/torture/internal/store"
)

// Options say what to run and what may be harmed.
type Options struct {
	// URL is a postgres:// or sqlserver:// URL. Empty: SQLite, in Dir.
	URL string
	// Schema is the name of the schemas that rounds make and drop, a number is added.
	// Default "pawl_torture".
	Schema string
	// HarmServer allows faults that others who use the server notice, or who use it as the
	// same user.
	HarmServer bool
	// Server is the server of URL, if it may also be stopped and replaced.
	Server nemesis.Server
	// Disk is a folder on a small disk that may be filled, or empty: SQLite files are put there,
	// and Server has its tables there.
	Disk string
	// Dir gets a folder for each round: histories, logs, the final state, the plan.
	Dir string
	// Keep keeps the database and the folders of rounds in which nothing was found.
	Keep bool
	// Seed makes the plan of faults, and what processes do.
	Seed uint64
	// Duration is how long to begin rounds.
	Duration time.Duration
	// Rounds is how many rounds there are, in place of Duration.
	Rounds int
	// Flows is how many flows there are to be in all rounds together, in place of Duration: producers begin
	// flows above all.
	Flows int
	// Round is how long there is load in a round, default 30 s.
	Round time.Duration
	// Faults are the names of those to make; empty: all that are possible.
	Faults []string
	// Sequence are names of faults each of which has a round of its own, in this order: failovers
	// and restores, to be counted. Faults has then those that happen beside it, of processes.
	Sequence []string
	// Rewinds asks for rounds in which the database goes back.
	Rewinds bool
	// Pooled puts a pooler between processes and server in the round of Plan.
	Pooled bool
	// Plan replays a plan, in one round.
	Plan nemesis.Plan
	// Workers, Producers, Claimers and Holders are how many processes there are of each;
	// defaults 3, 2, 2, 2.
	Workers, Producers, Claimers, Holders int
	// Pace is the mean time between transactions of a producer; zero: as fast as the workers
	// keep up.
	Pace time.Duration
	// Command starts a process that calls load.Main.
	Command []string
	// Log gets what happens, a line a call.
	Log func(format string, args ...any)
}

func (o *Options) defaults() {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	set(&o.Workers, 3)
	set(&o.Producers, 2)
	set(&o.Claimers, 2)
	set(&o.Holders, 2)
	if o.Round == 0 {
		o.Round = 30 * time.Second
	}
	if o.Schema == "" {
		o.Schema = "pawl_torture"
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
}

// Run runs rounds until the duration is over, and returns what they found. It stops after a
// round in which something was found. The error is that of a round that could not be run.
func Run(ctx context.Context, o Options) (*Report, error) {
	o.defaults()
	rounds, err := o.rounds()
	if err != nil {
		return nil, err
	}
	report := &Report{}
	began := time.Now()
	for n := 1; o.another(n, time.Since(began), report.Flows()); n++ {
		r := rounds(n)
		found, err := r.run(ctx)
		if err != nil {
			return report, fmt.Errorf("round %d (seed %d): %w", n, r.seed, err)
		}
		report.Rounds = append(report.Rounds, *found)
		o.Log("round %d: %d faults, %d messages, %.0f a minute, %d flows, %d messages taken away by a rewind, drained in %v, %d violations",
			n, found.Faults, found.Messages, found.Rate(), found.Flows, found.Rewound, found.Drain.Round(time.Millisecond), len(found.Violations))
		if len(found.Violations) > 0 {
			break
		}
	}
	return report, nil
}

// engine is the engine of URL.
func (o *Options) engine() nemesis.Engines {
	switch place := (store.Place{URL: o.URL, Schema: o.URL}); {
	case place.SQLServer():
		return nemesis.SQLServer
	case place.Postgres():
		return nemesis.Postgres
	default:
		return nemesis.SQLite
	}
}

// another reports whether there is to be a round of this number, when there have been so many flows.
func (o *Options) another(n int, elapsed time.Duration, flows int) bool {
	switch {
	case n == 1:
		return true
	case o.Plan != nil:
		return false
	case len(o.Sequence) > 0:
		return n <= len(o.Sequence)
	case o.Rounds > 0:
		return n <= o.Rounds
	case o.Flows > 0:
		return flows < o.Flows
	default:
		return elapsed < o.Duration
	}
}

// Of so many rounds one rewinds, if that is possible, and on PostgreSQL one has a pooler.
const every = 3

// calmer is how many times rarer faults are in a run of so many flows.
const calmer = 3

// sets are the faults of the kinds of rounds.
type sets struct{ all, plain, pooled, rewinds, sequence []nemesis.Fault }

func (o *Options) sets() (s sets, err error) {
	where := nemesis.Where{Engine: o.engine(), Harm: o.HarmServer || o.Server != nil, Owned: o.Server != nil, Clock: o.Server != nil && o.Server.Clock(), Small: o.Disk != "", WAL: o.Server != nil && o.Server.WALDisk() != ""}
	if s.all, err = nemesis.Choose(where, o.Faults); err != nil {
		return s, err
	}
	for _, name := range o.Sequence {
		one, err := nemesis.Choose(where, []string{name})
		if err != nil {
			return s, err
		}
		s.sequence = append(s.sequence, one[0])
	}
	for _, f := range s.all {
		switch {
		case f.Rewinds:
			s.rewinds = append(s.rewinds, f)
		case f.Pooled:
			s.pooled = append(s.pooled, f)
		case f.Track == nemesis.Servers:
			s.plain = append(s.plain, f)
		default:
			s.plain, s.pooled = append(s.plain, f), append(s.pooled, f)
		}
	}
	if !o.Rewinds {
		s.rewinds = nil
	}
	return s, nil
}

// rounds returns what the rounds are.
func (o *Options) rounds() (func(n int) *round, error) {
	s, err := o.sets()
	if err != nil {
		return nil, err
	}
	return func(n int) *round {
		length, calm := o.Round, 1
		if o.Flows > 0 && o.Plan == nil { // many faults leave no time for many flows
			calm = calmer
			length /= calmer
		}
		r := &round{Options: o, number: n, seed: o.Seed + uint64(n) - 1, faults: slices.Concat(s.all, s.sequence)}
		switch {
		case o.Plan != nil:
			r.plan = o.Plan
			r.pooled = o.Pooled && o.engine() == nemesis.Postgres
		case len(s.sequence) > 0:
			f := s.sequence[n-1]
			r.subject, r.plan = f.Name, nemesis.RewindPlan(r.seed, length, s.all, f)
		case len(s.rewinds) > 0 && (n%every == 2 || len(s.plain) == 0):
			turn := n / every
			if len(s.plain) == 0 {
				turn = n
			}
			f := s.rewinds[(uint64(turn)+o.Seed)%uint64(len(s.rewinds))]
			r.subject, r.plan = f.Name, nemesis.RewindPlan(r.seed, length, s.all, f)
		case o.engine() == nemesis.Postgres && len(s.pooled) > 0 && (n%every == 0 || len(s.plain) == 0):
			r.pooled, r.plan = true, nemesis.NewPlan(r.seed, length, s.pooled)
		default:
			r.plan = nemesis.NewPlan(r.seed, length, s.plain)
		}
		for i := range r.plan {
			r.plan[i].At *= time.Duration(calm)
		}
		return r
	}, nil
}
