package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
)

// jobsCmd is "pawl jobs".
type jobsCmd struct {
	Ls      jobsLsCmd      `cmd:"" aliases:"list" help:"List jobs by name."`
	Put     jobsPutCmd     `cmd:"" help:"Store a job, new or in place of the one of its name."`
	Sync    jobsSyncCmd    `cmd:"" help:"Store the jobs of a file, and remove those that it no longer has."`
	Rm      jobsRmCmd      `cmd:"" help:"Remove jobs and their pending runs."`
	Run     jobsRunCmd     `cmd:"" help:"Make a run of a job now."`
	Enable  jobsEnableCmd  `cmd:"" help:"Let jobs make runs again."`
	Disable jobsDisableCmd `cmd:"" help:"Have jobs make no more runs."`
	Runs    jobsRunsCmd    `cmd:"" help:"List the runs of a job, latest first."`
	Forget  jobsForgetCmd  `cmd:"" help:"Let an older version of a program declare its jobs again."`
	Next    jobsNextCmd    `cmd:"" help:"Explain a schedule, without a database."`
}

// Help is printed by --help.
func (*jobsCmd) Help() string {
	return `A job becomes a message of its topic at each time of its schedule: a run. "pawl
work" makes the runs, and so do programs that run pawl.`
}

// checkJob says what is wrong with a job's name.
func checkJob(name string) error {
	if err := engine.CheckText("name", name, limits.JobName, true); err != nil {
		return usage("%w", err)
	}
	return nil
}

// eachJob does something with jobs one after another, in one opening of the
// database. All names are read before the first job is touched, and one that is not found does
// not hold up the others.
func (g *options) eachJob(ctx context.Context, names []string, do func(*job.Jobs, string) error) error {
	for _, name := range names {
		if err := checkJob(name); err != nil {
			return err
		}
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	jobs := s.pawl().Jobs
	var missing []string
	for _, name := range names {
		err := do(jobs, name)
		if errors.Is(err, job.ErrNotFound) {
			missing = append(missing, strconv.Quote(name))
			continue
		}
		if err != nil {
			return s.close(err)
		}
	}
	if len(missing) > 0 {
		return s.close(fmt.Errorf("%w: %s", job.ErrNotFound, strings.Join(missing, ", ")))
	}
	return s.close(nil)
}

// printState says whether a job is enabled and when it runs next.
func (a *app) printState(i *job.Info, asJSON bool) error {
	if asJSON {
		return a.printJSON(view.OfJob(i))
	}
	text := view.JobState(i)
	if !i.NextRunAt.IsZero() {
		text += ", next run " + stamp(i.NextRunAt)
	}
	_, err := fmt.Fprintln(a.stdout, terminal.Clean(fmt.Sprintf("%s  %s", i.Name, text)))
	return err
}
