package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/job"
)

// jobsLsCmd is "pawl jobs ls".
type jobsLsCmd struct {
	Limit int    `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
	After string `placeholder:"NAME" help:"Only jobs behind a name, to page on."`
}

// Help is printed by --help.
func (*jobsLsCmd) Help() string {
	return `Broken is a job whose schedule cannot be followed; ERROR says why. --json prints
all fields but the payload.`
}

// Run lists jobs.
func (c *jobsLsCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	list, err := s.jobs().List(ctx, job.ListFilter{After: c.After, Limit: c.Limit})
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return printAll(a, list, viewJob)
	}
	return c.print(a, list)
}

func (c *jobsLsCmd) print(a *app, list []*job.Info) error {
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no jobs")
		return nil
	}
	var t terminal.Table
	t.Row("JOB", "STATE", "SCHEDULE", "ZONE", "TOPIC", "NEXT RUN", "LAST RUN", "STATUS", "ERROR")
	for _, i := range list {
		t.Row(i.Name, jobState(i), i.Schedule, i.Zone, i.Topic, stampKnown(i.NextRun), stampKnown(i.LastRunTime), lastRun(i), i.LastError)
	}
	if err := t.Write(a.stdout, terminal.Width(a.stdout)); err != nil {
		return err
	}
	if len(list) == c.Limit {
		fmt.Fprintf(a.stderr, "there may be more: --after %s\n", terminal.Clean(shellWord(list[len(list)-1].Name)))
	}
	return nil
}
