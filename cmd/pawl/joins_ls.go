package main

import (
	"context"
	"iter"
	"time"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/join"
)

// joinsLsCmd is "pawl joins ls".
type joinsLsCmd struct {
	Group     string `short:"g" placeholder:"KEY" help:"Only joins with a grouping key."`
	Status    string `placeholder:"STATUS" values:"pending,completed,failed,cancelled" help:"Only joins that are pending, completed, failed or cancelled."`
	pageFlags `set:"cursor=ID"`
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
	return joinListing(a).list(ctx, a, g, c.listFlags, func(s *store) iter.Seq2[join.Info, error] { return s.pawl().Joins.List(ctx, f) })
}

func (c *joinsLsCmd) filter() (f join.ListOptions, err error) {
	f = join.ListOptions{GroupingKey: c.Group}
	if err := c.checkLimit(); err != nil {
		return f, err
	}
	if c.After != "" {
		after, err := parseJoin(c.After)
		if err != nil {
			return f, usage("--after: %w", err)
		}
		f.After = &join.Info{ID: after}
	}
	f.Status, err = oneOf(c.Status, join.Pending, join.Completed, join.Failed, join.Cancelled)
	return f, err
}

func joinListing(a *app) *listing[join.Info] {
	return &listing[join.Info]{
		none: "no joins",
		columns: []column[join.Info]{
			{head: "JOIN", cell: func(j *join.Info) string { return j.ID.String() }},
			{head: "STATUS", cell: func(j *join.Info) string { return string(j.Status) }},
			{head: "STEPS", cell: func(j *join.Info) string { return steps(a.stdout, j) }},
			{head: "GROUP", cell: func(j *join.Info) string { return j.GroupingKey }},
			{head: "CREATED", cell: func(j *join.Info) string { return stamp(j.CreatedAt) }},
			{head: "DEADLINE", cell: func(j *join.Info) string { return deadlineText(j, time.Now()) }},
		},
		id:    func(j *join.Info) string { return j.ID.String() },
		pages: true,
		view:  func(j *join.Info) any { return view.OfJoin(j) },
	}
}
