package main

import (
	"context"

	"github.com/bravellian/pawl/job"
)

// jobsEnableCmd is "pawl jobs enable".
type jobsEnableCmd struct {
	Names []string `arg:"" name:"name" help:"Names of jobs."`
}

// Help is printed by --help.
func (*jobsEnableCmd) Help() string {
	return `Jobs go on at their next time; what they missed meanwhile is not made up for.`
}

// Run switches jobs on.
func (c *jobsEnableCmd) Run(ctx context.Context, a *app, g *options) error {
	return g.setEnabled(ctx, a, c.Names, true)
}

// jobsDisableCmd is "pawl jobs disable".
type jobsDisableCmd struct {
	Names []string `arg:"" name:"name" help:"Names of jobs."`
}

// Help is printed by --help.
func (*jobsDisableCmd) Help() string {
	return `Runs that were made already are worked off. "pawl jobs run" still makes one.`
}

// Run switches jobs off.
func (c *jobsDisableCmd) Run(ctx context.Context, a *app, g *options) error {
	return g.setEnabled(ctx, a, c.Names, false)
}

func (g *options) setEnabled(ctx context.Context, a *app, names []string, enabled bool) error {
	return g.eachJob(ctx, names, func(jobs *job.Jobs, name string) error {
		if err := jobs.SetEnabled(ctx, name, enabled); err != nil {
			return err
		}
		i, err := jobs.Get(ctx, name)
		if err != nil {
			return err
		}
		return a.printState(i, g.JSON)
	})
}
