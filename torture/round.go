//go:build linux || darwin

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl/torture/internal/check"
	"github.com/bravellian/pawl/torture/internal/crew"
	"github.com/bravellian/pawl/torture/internal/history"
	"github.com/bravellian/pawl/torture/internal/load"
	"github.com/bravellian/pawl/torture/internal/nemesis"
	"github.com/bravellian/pawl/torture/internal/store"
)

// How long things may take after the faults have ended.
const (
	stopPatience  = 20 * time.Second
	drainPatience = 90 * time.Second
)

// round is one round.
type round struct {
	*Options
	number  int
	seed    uint64
	faults  []nemesis.Fault
	plan    nemesis.Plan
	subject string // the fault that the round is about, if it is
	pooled  bool

	dir    string
	place  store.Place
	crew   *crew.Crew
	world  *nemesis.World
	events *history.Writer
}

// run runs the round: setup, load under faults, drain, final state, check.
func (r *round) run(ctx context.Context) (found *RoundReport, err error) {
	if err := r.setUp(ctx); err != nil {
		return nil, errors.Join(err, r.tearDown(r.Keep))
	}
	keep := true
	defer func() { err = errors.Join(err, r.tearDown(keep)) }()
	found = &RoundReport{Number: r.number, Seed: r.seed, Subject: r.subject, Dir: r.dir, Schema: r.place.Schema, Faults: len(r.plan)}
	kind := r.subject
	switch {
	case r.pooled:
		kind = "behind a pooler"
	case kind == "":
		kind = "nothing rewinds"
	}
	r.Log("round %d, seed %d, %s, in %s", r.number, r.seed, kind, r.dir)

	began := time.Now()
	r.crew.Start(ctx)
	r.faultsFor(ctx)
	if ctx.Err() != nil { // interrupted: nothing is known
		keep = r.Keep
		return nil, ctx.Err()
	}
	r.phase(history.NemesisEnds)
	found.Made = r.world.Made()
	found.Load = time.Since(began)

	began = time.Now()
	left := r.drain(ctx)
	found.Drain = time.Since(began)
	if left == nil {
		r.phase(history.Drained)
	}
	r.crew.StopRole(load.Worker, stopPatience)
	r.crew.StopRole(load.Claimer, stopPatience)
	if err := r.judge(ctx, found); err != nil {
		return nil, err
	}
	if len(r.Sequence) > 0 && found.Made[r.subject] == 0 {
		found.Violations = append(found.Violations, r.subject+" could not be made")
	}
	found.Violations = append(found.Violations, left...)
	found.Violations = append(found.Violations, r.crew.Problems()...)
	keep = len(found.Violations) > 0 || r.Keep
	return found, r.write("report.json", found)
}

// setUp makes the folder, the tables and the processes' slots.
func (r *round) setUp(ctx context.Context) error {
	r.dir = filepath.Join(r.Dir, fmt.Sprintf("round-%d-seed-%d", r.number, r.seed))
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	r.place = store.Place{URL: filepath.Join(cmp.Or(r.Disk, r.dir), "pawl.db")}
	if r.URL != "" {
		r.place = store.Place{URL: r.URL, Schema: fmt.Sprintf("%s_%d", r.Schema, r.number)}
	}
	if r.Server != nil {
		r.place.URL = r.Server.URL()
		if r.Server.Clock() {
			if err := r.Server.SetClock(0); err != nil { // as the round before left it
				return err
			}
		}
	}
	s, err := store.Open(r.place, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	r.world = &nemesis.World{Store: s, Place: r.place, Server: r.Server, Disk: r.Disk, Log: r.Log}
	if err := load.Setup(ctx, s); err != nil {
		return err
	}
	r.crew, err = crew.New(crew.Options{
		Command: r.Command, Dir: r.dir, Place: r.place, Seed: r.seed, Pace: r.Pace, Flows: r.Flows > 0,
		Roles: map[string]int{load.Worker: r.Workers, load.Producer: r.Producers, load.Claimer: r.Claimers, load.Holder: r.Holders},
	})
	if err != nil {
		return err
	}
	r.world.Crew = r.crew
	if err := r.pool(); err != nil {
		return err
	}
	if r.events, err = history.Create(crew.History(r.dir), "nemesis"); err != nil {
		return err
	}
	r.world.Events = r.events
	if err := os.WriteFile(filepath.Join(r.dir, "plan.txt"), []byte(r.plan.String()), 0o644); err != nil {
		return err
	}
	return r.write("plan.json", r.plan)
}

// pool puts a pooler between the processes and the server.
func (r *round) pool() (err error) {
	if !r.pooled {
		return nil
	}
	if r.world.Pooler, err = nemesis.StartPooler(r.place.URL); err != nil {
		return err
	}
	// Nothing is prepared: the next transaction may be on another connection.
	r.crew.Params = url.Values{"default_query_exec_mode": {"exec"}}
	return r.crew.Retarget(r.world.Pooler.URL())
}

// tearDown ends processes and removes what the round made, unless it is to be kept.
func (r *round) tearDown(keep bool) error {
	if r.crew != nil {
		r.crew.Close()
	}
	var err error
	if r.events != nil {
		err = r.events.Close()
	}
	if r.world == nil {
		return err
	}
	if r.world.Pooler != nil {
		r.world.Pooler.Stop()
	}
	if !keep {
		ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		err = errors.Join(err, r.world.Store.Drop(ctx), os.RemoveAll(r.dir))
	}
	return errors.Join(err, r.world.Store.Close(), r.clearDisk())
}

// clearDisk removes the SQLite file from the small disk, whose room the next round needs.
func (r *round) clearDisk() error {
	if r.Disk == "" || r.URL != "" {
		return nil
	}
	var err error
	all, _ := filepath.Glob(filepath.Join(r.Disk, "*")) // the pattern is valid
	for _, name := range all {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// faultsFor carries out the plan and lets the load go on to its end.
func (r *round) faultsFor(ctx context.Context) {
	end := time.Now().Add(r.Round)
	nemesis.Run(ctx, r.world, r.plan, r.faults)
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(end)):
	}
	r.crew.Heal()
}

func (r *round) phase(name string) {
	_ = r.events.Append(history.Event{Op: history.Phase, Outcome: history.OK, Detail: name})
}

// drain ends what makes work, waits until all work is done, and returns what is left.
func (r *round) drain(ctx context.Context) []string {
	r.crew.StopRole(load.Producer, stopPatience)
	r.crew.StopRole(load.Holder, stopPatience)
	ctx, cancel := context.WithTimeout(ctx, drainPatience)
	defer cancel()
	ended := false
	var left map[string]int
	var err error
	for {
		if !ended {
			err = load.EndJobs(ctx, r.world.Store)
			ended = err == nil
		}
		if ended {
			if left, err = r.world.Store.Left(ctx); err == nil && len(left) == 0 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return []string{fmt.Sprintf("not drained after %v: %v (%v)", drainPatience, left, err)}
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// late is how long a call on a lease may still take effect when its process does not wait for it
// any more: longer than connections are silent and statements wait.
const late = 4 * store.StatementTimeout

// longestWait is how long what is due may wait beside faults.
const longestWait = 45 * time.Second

// judge reads the final state and the histories, and compares them.
func (r *round) judge(ctx context.Context, found *RoundReport) error {
	state, err := r.world.Store.Final(ctx, load.JobEvery)
	if err != nil {
		return err
	}
	if err := r.write("final.json", state); err != nil {
		return err
	}
	files, err := history.Folder(crew.History(r.dir))
	if err != nil {
		return err
	}
	final := state.Check()
	final.Rewinds, final.Steps, final.Lease, final.Late, final.Waits = r.world.Rewinds(), r.world.Steps(), load.Lease, late, longestWait
	final.Limits = map[string]int{load.Limited: load.LimitedTo}
	final.Jobs = jobs(state.Runs)
	report, err := check.Check(files, final)
	if err != nil {
		return err
	}
	found.Messages, found.Flows, found.Rewound, found.Undecided = report.Handled, report.Flows, report.LostByDatabase, report.Undecided
	found.Counts = Counts{Kept: report.Kept, Lost: report.Lost(), Twice: report.Twice()}
	found.Counts.Tokens, found.Counts.TokensAgain = report.Tokens()
	found.Violations = report.Violations()
	return errors.Join(r.write("check.json", report), os.WriteFile(filepath.Join(r.dir, "check.txt"), []byte(report.String()), 0o644))
}

// jobs is what must have been recorded: every time from the first to the last. What of a job
// was recorded before a rewind is not known.
func jobs(runs []check.Run) []check.Job {
	if len(runs) == 0 {
		return nil
	}
	return []check.Job{{Name: load.Job, From: runs[0].Nominal, To: runs[len(runs)-1].Nominal, Every: int64(load.JobEvery)}}
}

func (r *round) write(name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, name), append(text, '\n'), 0o644)
}
