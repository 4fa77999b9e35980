package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// jobsForgetCmd is "pawl jobs forget".
type jobsForgetCmd struct {
	Owner string `arg:"" name:"owner" help:"The owner that the program passes to Jobs.Sync, or its Options.Program."`
}

// Help is printed by --help.
func (*jobsForgetCmd) Help() string {
	return `To roll a program back: deletes the record of which versions declared jobs, or limits of
handlers, so that the next one that starts declares them, an older one too. It changes none.`
}

// Run forgets versions.
func (c *jobsForgetCmd) Run(ctx context.Context, a *app, g *options) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	known, err := s.pawl().Jobs.Forget(ctx, c.Owner)
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(map[string]any{"owner": c.Owner, "forgotten": known})
	}
	word := "forgotten"
	if !known {
		word = "no version is known"
	}
	_, err = fmt.Fprintln(a.stdout, terminal.Clean(c.Owner+"  "+word))
	return err
}
