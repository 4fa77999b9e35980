package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// explainCmd is "pawl explain".
type explainCmd struct {
	ID   string   `arg:"" help:"Message id or position, timer id or key, name of a job, run id, join id, or SOURCE/ID of the inbox."`
	Kind []string `sep:"," enum:"message,timer,job,run,join,inbox" placeholder:"KIND" help:"Only find a message, timer, job, run, join, or message of the inbox."`
}

// Help is printed by --help.
func (*explainCmd) Help() string {
	return `It says first what would hold it even if all else went away: a pause before a time,
a time before a worker that is missing. What depends on something else (a join on
its steps, a fired timer on its message) comes with that.

Workers are those that "pawl workers" lists. A program that claims messages by
itself is not among them.

The exit code is 1 if nothing goes by the id.

Examples:

    pawl explain 0198c9a0-5d7e-8a41-9c3f-000000000001
    pawl explain order-17 --kind timer
    pawl explain nightly-report --json | jq -r .code
    pawl explain shop/4711`
}

// Run explains what an id names.
func (c *explainCmd) Run(ctx context.Context, a *app, g *options) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	x, err := c.ask(ctx, s)
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(x)
	}
	_, err = fmt.Fprintln(a.stdout, terminal.CleanText(x.String()))
	return err
}

func (c *explainCmd) ask(ctx context.Context, s *store) (*admin.Explanation, error) {
	kinds := make([]admin.Kind, len(c.Kind))
	for i, k := range c.Kind {
		kinds[i] = admin.Kind(k)
	}
	return s.pawl().Admin.Explain(ctx, c.ID, kinds...)
}
