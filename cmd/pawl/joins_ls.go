package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/join"
)

// joinsLsCmd is "pawl joins ls".
type joinsLsCmd struct {
	Group  string `short:"g" placeholder:"KEY" help:"Only joins with a grouping key."`
	Status string `placeholder:"STATUS" help:"Only joins that are pending, completed, failed or cancelled."`
	Limit  int    `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
	Before string `placeholder:"ID" help:"Only joins below an id, to page on."`
}

// Help is printed by --help.
func (*joinsLsCmd) Help() string {
	return `STEPS is how many of the expected steps are completed, and how many failed.
--json prints all fields but the metadata; see "pawl joins show".

Examples:

    pawl joins ls --status pending
    pawl joins ls --group customer-7 --json`
}

// Run lists joins.
func (c *joinsLsCmd) Run(ctx context.Context, a *app, g *options) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	list, err := s.joins().List(ctx, f)
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return printAll(a, list, viewJoin)
	}
	return c.print(a, list)
}

func (c *joinsLsCmd) filter() (join.Filter, error) {
	f := join.Filter{GroupingKey: c.Group, Limit: c.Limit}
	if err := checkLimit(c.Limit); err != nil {
		return f, err
	}
	if c.Before != "" {
		var err error
		if f.Before, err = parseJoin(c.Before); err != nil {
			return f, usage("--before: %w", err)
		}
	}
	for _, s := range []join.Status{join.Pending, join.Completed, join.Failed, join.Cancelled} {
		if c.Status == s.String() {
			f.Status = &s
		}
	}
	if c.Status != "" && f.Status == nil {
		return f, usage("--status: want pending, completed, failed or cancelled")
	}
	return f, nil
}

func (c *joinsLsCmd) print(a *app, list []*join.Join) error {
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no joins")
		return nil
	}
	var t terminal.Table
	t.Row("JOIN", "STATUS", "STEPS", "GROUP", "CREATED", "DEADLINE")
	for _, j := range list {
		t.Row(j.ID.String(), j.Status.String(), steps(a.stdout, j), j.GroupingKey, stamp(j.CreatedAt), deadlineText(j, time.Now()))
	}
	if err := t.Write(a.stdout, terminal.Width(a.stdout)); err != nil {
		return err
	}
	if len(list) == c.Limit {
		fmt.Fprintf(a.stderr, "there may be more: --before %s\n", list[len(list)-1].ID)
	}
	return nil
}
