package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/job"
)

// jobsRunCmd is "pawl jobs run".
type jobsRunCmd struct {
	Name string `arg:"" help:"Name of the job."`
}

// Help is printed by --help.
func (*jobsRunCmd) Help() string {
	return `Prints the id of the run, which is its message's: see "pawl show ID". The schedule
stays as it is. A disabled job can be run, and one whose last run is not over.`
}

// Run triggers a job.
func (c *jobsRunCmd) Run(ctx context.Context, a *app, g *options) error {
	var id job.RunID
	err := g.eachJob(ctx, []string{c.Name}, func(jobs *job.Jobs, name string) (err error) {
		id, err = jobs.Trigger(ctx, name)
		return err
	})
	if err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(struct {
			RunID job.RunID `json:"run_id"`
			Job   string    `json:"job"`
		}{id, c.Name})
	}
	_, err = fmt.Fprintln(a.stdout, id)
	return err
}
