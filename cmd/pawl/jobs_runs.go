package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// jobsRunsCmd is "pawl jobs runs".
type jobsRunsCmd struct {
	Name string `arg:"" help:"Name of the job."`

	pageFlags `set:"cursor=ID"`
}

// Help is printed by --help.
func (*jobsRunsCmd) Help() string {
	return `A run is pending, running, succeeded, failed or cancelled, as its message is: see
"pawl show ID". There is no message of one that was skipped, because the run before
it was not over, or missed, because nothing was there to make it.

The history of a removed job stays for a while.`
}

// Run lists runs.
func (c *jobsRunsCmd) Run(ctx context.Context, a *app, g *options) error {
	after, err := c.check()
	if err != nil {
		return err
	}
	var list []job.Run
	err = g.eachJob(ctx, []string{c.Name}, func(jobs *job.Jobs, name string) (err error) {
		list, err = c.list(ctx, jobs, name, after)
		return err
	})
	if err != nil {
		return err
	}
	return runListing().print(a, g, c.listFlags, list)
}

func (c *jobsRunsCmd) check() (after job.RunID, err error) {
	if err := c.checkLimit(); err != nil || c.After == "" {
		return after, err
	}
	if after, err = outbox.ParseMessageID(c.After); err != nil {
		return after, usage("--after: %q is not the id of a run: want a UUID", c.After)
	}
	return after, nil
}

// list returns the runs of a job, or job.ErrNotFound where there are none and no
// job either.
func (c *jobsRunsCmd) list(ctx context.Context, jobs *job.Jobs, name string, after job.RunID) ([]job.Run, error) {
	var f job.RunsOptions
	if !after.IsZero() {
		run, err := jobs.GetRun(ctx, after)
		if err != nil {
			return nil, usage("--after: no such run: %s", after)
		}
		f.After = run
	}
	list, err := engine.Collect(jobs.Runs(ctx, name, f), c.Limit)
	if err == nil && len(list) == 0 && f.After == nil {
		_, err = jobs.Get(ctx, name)
	}
	return list, err
}

func runListing() *listing[job.Run] {
	return &listing[job.Run]{
		none: "no runs",
		columns: []column[job.Run]{
			{head: "RUN", cell: func(r *job.Run) string { return r.ID.String() }},
			{head: "SCHEDULED", cell: func(r *job.Run) string { return stamp(r.ScheduledAt) }},
			{head: "STATUS", cell: func(r *job.Run) string { return string(r.Status) }},
			{head: "STARTED", cell: func(r *job.Run) string { return stampKnown(r.StartedAt) }},
			{head: "ENDED", cell: func(r *job.Run) string { return stampKnown(r.EndedAt) }},
			{head: "RETRIES", cell: func(r *job.Run) string { return strconv.Itoa(r.Attempts) }},
			{head: "NOTE", cell: runNote},
		},
		id:    func(r *job.Run) string { return r.ID.String() },
		pages: true,
	}
}

// runNote is what matters about a run beyond its times.
func runNote(r *job.Run) string {
	switch {
	case r.LastError != "":
		return r.LastError
	case r.Missed > 1:
		return fmt.Sprintf("%d times from then on", r.Missed)
	case r.Triggered:
		return "by hand"
	}
	return ""
}
