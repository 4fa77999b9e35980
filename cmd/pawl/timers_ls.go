package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/timer"
)

// timersLsCmd is "pawl timers ls".
type timersLsCmd struct {
	Status string `default:"scheduled" placeholder:"STATUS" help:"Timers that are scheduled, claimed, fired, failed or cancelled. Default: ${default}."`
	Topic  string `short:"t" placeholder:"TOPIC" help:"Only timers of a topic."`
	Limit  int    `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
	After  string `placeholder:"ID" help:"Only timers behind one in the list, to page on."`
}

// Help is printed by --help.
func (*timersLsCmd) Help() string {
	return `Timers that fired, failed or were cancelled are listed latest first. A fired one is a
message of the same id: see "pawl show ID". Claimed is a timer that a program
fires in a way of its own; failed is one that it gave up.

Examples:

    pawl timers ls --topic remind
    pawl timers ls --status fired --json`
}

// Run lists timers.
func (c *timersLsCmd) Run(ctx context.Context, a *app, g *options) error {
	f, after, err := c.filter()
	if err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	list, err := listTimers(ctx, s.timers(), f, after)
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return printAll(a, list, viewTimer)
	}
	return c.print(a, list)
}

func (c *timersLsCmd) filter() (f timer.ListFilter, after timer.ID, err error) {
	f = timer.ListFilter{Topic: c.Topic, Limit: c.Limit}
	if err := checkLimit(c.Limit); err != nil {
		return f, after, err
	}
	if c.After != "" {
		if after, err = parseTimer(c.After); err != nil {
			return f, after, usage("--after: %w", err)
		}
	}
	for _, s := range []timer.Status{timer.Scheduled, timer.Claimed, timer.Fired, timer.Failed, timer.Cancelled} {
		if c.Status == s.String() {
			f.Status = s
			return f, after, nil
		}
	}
	return f, after, usage("--status: want scheduled, claimed, fired, failed or cancelled")
}

// listTimers lists what is behind a timer, if one is given. It may have fired since
// it was listed: its place among those to fire is the same. Among those that are
// over it has a place only if it is over.
func listTimers(ctx context.Context, timers *timer.Timers, f timer.ListFilter, after timer.ID) ([]*timer.Info, error) {
	if !after.IsZero() {
		i, err := timers.Get(ctx, after)
		if err != nil {
			return nil, forgotten(err)
		}
		if i.EndedAt.IsZero() && f.Status >= timer.Fired {
			return nil, usage("--after: that timer is %s, not %s", i.Status, f.Status)
		}
		f.After = i
	}
	return timers.List(ctx, f)
}

func (c *timersLsCmd) print(a *app, list []*timer.Info) error {
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no timers")
		return nil
	}
	var t terminal.Table
	t.Row("TIMER", "STATUS", "DUE", "TOPIC", "KEY", "CREATED", "NOTE")
	for _, i := range list {
		t.Row(i.ID.String(), i.Status.String(), stamp(i.Due), i.Topic, i.Key, stamp(i.CreatedAt), timerNote(i))
	}
	if err := t.Write(a.stdout, terminal.Width(a.stdout)); err != nil {
		return err
	}
	if len(list) == c.Limit {
		fmt.Fprintf(a.stderr, "there may be more: --after %s\n", list[len(list)-1].ID)
	}
	return nil
}

// timerNote is what matters about a timer in its state.
func timerNote(i *timer.Info) string {
	switch {
	case i.Status == timer.Failed && i.LastError != "":
		return "failed at " + stamp(i.EndedAt) + ": " + i.LastError
	case !i.EndedAt.IsZero():
		return i.Status.String() + " at " + stamp(i.EndedAt)
	case i.Status == timer.Claimed:
		return "until " + stamp(i.LockedUntil)
	}
	return i.LastError
}
