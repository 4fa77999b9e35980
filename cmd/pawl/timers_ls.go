package main

import (
	"context"
	"iter"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/timer"
)

// timersLsCmd is "pawl timers ls".
type timersLsCmd struct {
	Status string `default:"scheduled" placeholder:"STATUS" values:"scheduled,claimed,fired,failed,cancelled" help:"Timers that are scheduled, claimed, fired, failed or cancelled. Default: ${default}."`
	Topic  string `short:"t" placeholder:"TOPIC" help:"Only timers of a topic."`

	pageFlags `set:"cursor=ID"`
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
	return timerListing().list(ctx, a, g, c.listFlags, func(s *store) iter.Seq2[timer.Info, error] { return listTimers(ctx, s.pawl().Timers, f, after) })
}

func (c *timersLsCmd) filter() (f timer.ListOptions, after timer.ID, err error) {
	f = timer.ListOptions{Topic: c.Topic}
	if err := c.checkLimit(); err != nil {
		return f, after, err
	}
	if c.After != "" {
		if after, err = parseTimer(c.After); err != nil {
			return f, after, usage("--after: %w", err)
		}
	}
	f.Status, err = oneOf(c.Status, timer.Scheduled, timer.Claimed, timer.Fired, timer.Failed, timer.Cancelled)
	return f, after, err
}

// listTimers lists what is behind a timer, if one is given. It may have fired since
// it was listed: its place among those to fire is the same. Among those that are
// over it has a place only if it is over.
func listTimers(ctx context.Context, timers *timer.Timers, f timer.ListOptions, after timer.ID) iter.Seq2[timer.Info, error] {
	if !after.IsZero() {
		i, err := timers.Get(ctx, after)
		if err != nil {
			return refused[timer.Info](forgotten(err))
		}
		if i.EndedAt.IsZero() && f.Status != timer.Scheduled && f.Status != timer.Claimed {
			return refused[timer.Info](usage("--after: that timer is %s, not %s", i.Status, f.Status))
		}
		f.After = i
	}
	return timers.List(ctx, f)
}

func timerListing() *listing[timer.Info] {
	return &listing[timer.Info]{
		none: "no timers",
		columns: []column[timer.Info]{
			{head: "TIMER", cell: func(i *timer.Info) string { return i.ID.String() }},
			{head: "STATUS", cell: func(i *timer.Info) string { return string(i.Status) }},
			{head: "DUE", cell: func(i *timer.Info) string { return stamp(i.Due) }},
			{head: "TOPIC", cell: func(i *timer.Info) string { return i.Topic }},
			{head: "KEY", cell: func(i *timer.Info) string { return i.Key }},
			{head: "CREATED", cell: func(i *timer.Info) string { return stamp(i.CreatedAt) }},
			{head: "NOTE", cell: timerNote},
		},
		id:    func(i *timer.Info) string { return i.ID.String() },
		pages: true,
		view:  func(i *timer.Info) any { return view.OfTimer(i) },
	}
}

// timerNote is what matters about a timer in its state.
func timerNote(i *timer.Info) string {
	switch {
	case i.Status == timer.Failed && i.LastError != "":
		return "failed at " + stamp(i.EndedAt) + ": " + i.LastError
	case !i.EndedAt.IsZero():
		return string(i.Status) + " at " + stamp(i.EndedAt)
	case i.Status == timer.Claimed:
		return "until " + stamp(i.LockedUntil)
	}
	return i.LastError
}
