package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// jobsRunsCmd is "pawl jobs runs".
type jobsRunsCmd struct {
	Name   string `arg:"" help:"Name of the job."`
	Limit  int    `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
	Before string `placeholder:"ID" help:"Only runs behind one in the list, to page on."`
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
	before, err := c.check()
	if err != nil {
		return err
	}
	var list []*job.Run
	err = g.eachJob(ctx, []string{c.Name}, func(jobs *job.Jobs, name string) (err error) {
		list, err = c.list(ctx, jobs, name, before)
		return err
	})
	if err != nil {
		return err
	}
	if g.JSON {
		return printAll(a, list, viewRun)
	}
	return c.print(a, list)
}

func (c *jobsRunsCmd) check() (before job.RunID, err error) {
	if err := checkLimit(c.Limit); err != nil || c.Before == "" {
		return before, err
	}
	if before, err = outbox.ParseMessageID(c.Before); err != nil {
		return before, usage("--before: %q is not the id of a run: want a UUID", c.Before)
	}
	return before, nil
}

// list returns the runs of a job, or job.ErrNotFound where there are none and no
// job either.
func (c *jobsRunsCmd) list(ctx context.Context, jobs *job.Jobs, name string, before job.RunID) ([]*job.Run, error) {
	f := job.RunFilter{Limit: c.Limit}
	if !before.IsZero() {
		run, err := jobs.GetRun(ctx, before)
		if err != nil {
			return nil, usage("--before: no such run: %s", before)
		}
		f.Before = run
	}
	list, err := jobs.Runs(ctx, name, f)
	if err == nil && len(list) == 0 && f.Before == nil {
		_, err = jobs.Get(ctx, name)
	}
	return list, err
}

func (c *jobsRunsCmd) print(a *app, list []*job.Run) error {
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no runs")
		return nil
	}
	var t terminal.Table
	t.Row("RUN", "SCHEDULED", "STATUS", "STARTED", "ENDED", "RETRIES", "NOTE")
	for _, r := range list {
		t.Row(r.ID.String(), stamp(r.Scheduled), runStatus(r.Status), stampKnown(r.StartedAt), stampKnown(r.EndedAt), strconv.Itoa(r.Attempts), runNote(r))
	}
	if err := t.Write(a.stdout, terminal.Width(a.stdout)); err != nil {
		return err
	}
	if len(list) == c.Limit {
		fmt.Fprintf(a.stderr, "there may be more: --before %s\n", list[len(list)-1].ID)
	}
	return nil
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

// runView is a run as JSON.
type runView struct {
	RunID     job.RunID  `json:"run_id"`
	ID        int64      `json:"id"` // of its message, as in "pawl ls"
	Job       string     `json:"job"`
	Status    string     `json:"status"`
	Scheduled time.Time  `json:"scheduled"`
	Triggered bool       `json:"triggered"`
	Missed    int64      `json:"missed,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	Retries   int        `json:"retry_count"`
	LastError string     `json:"last_error,omitempty"`
}

func viewRun(r *job.Run) runView {
	return runView{
		RunID: r.ID, ID: int64(r.Position), Job: r.Job, Status: runStatus(r.Status), Scheduled: r.Scheduled, Triggered: r.Triggered, Missed: r.Missed,
		CreatedAt: r.CreatedAt, StartedAt: known(r.StartedAt), EndedAt: known(r.EndedAt), Retries: r.Attempts, LastError: r.LastError,
	}
}
