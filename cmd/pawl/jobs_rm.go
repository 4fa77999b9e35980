package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/job"
)

// jobsRmCmd is "pawl jobs rm".
type jobsRmCmd struct {
	Names []string `arg:"" name:"name" help:"Names of jobs."`
}

// Help is printed by --help.
func (*jobsRmCmd) Help() string {
	return `A run that is being worked on goes on to its end, and the history of runs stays
for a while: see "pawl jobs runs".`
}

// Run removes jobs.
func (c *jobsRmCmd) Run(ctx context.Context, a *app, g *options) error {
	return g.eachJob(ctx, c.Names, func(jobs *job.Jobs, name string) error {
		if err := jobs.Delete(ctx, name); err != nil {
			return err
		}
		if g.JSON {
			return a.printJSON(struct {
				Name    string `json:"name"`
				Removed bool   `json:"removed"`
			}{name, true})
		}
		_, err := fmt.Fprintln(a.stdout, terminal.Clean(name+"  removed"))
		return err
	})
}
