package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/pause"
)

// pausable is what can be paused.
type pausable struct {
	Kind string `arg:"" enum:"topic,queue" help:"topic or queue."`
	Name string `arg:"" help:"Its name."`
}

// pauseCmd is "pawl pause".
type pauseCmd struct {
	pausable
	Reason string `placeholder:"TEXT" help:"Why, for those who find it paused."`
}

// Help is printed by --help.
func (*pauseCmd) Help() string {
	return `Workers of every process begin no more messages of a paused topic or queue within
a second; those that are being handled go on to their end. Messages are enqueued
as ever, and wait. Nothing counts as an attempt meanwhile.

With --fleet and without --store all stores are paused; one that cannot be reached
does not keep the others from it, and makes the exit code 1.

Examples:

    pawl pause topic mail --reason 'the mail server is down'
    pawl pause queue reports
    pawl resume topic mail`
}

// Run pauses.
func (c *pauseCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := engine.CheckText("--reason", c.Reason, pause.MaxReason, false); err != nil {
		return usage("%w", err)
	}
	return c.apply(ctx, a, g, "paused", "was paused", func(p *pause.Pauses) (bool, error) {
		return p.Pause(ctx, pause.Kind(c.Kind), c.Name, c.Reason)
	})
}

// resumeCmd is "pawl resume".
type resumeCmd struct{ pausable }

// Help is printed by --help.
func (*resumeCmd) Help() string {
	return `What waited is due as it was before, in the same order. With --fleet and without
--store work goes on in all stores.`
}

// Run resumes.
func (c *resumeCmd) Run(ctx context.Context, a *app, g *options) error {
	return c.apply(ctx, a, g, "resumed", "was not paused", func(p *pause.Pauses) (bool, error) {
		return p.Resume(ctx, pause.Kind(c.Kind), c.Name)
	})
}

// pauseResult is what became of a pause, also as JSON.
type pauseResult struct {
	Store   string `json:"store,omitempty"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Changed bool   `json:"changed"`
}

func (c *pausable) apply(ctx context.Context, a *app, g *options, done, already string, act func(*pause.Pauses) (bool, error)) error {
	if err := engine.CheckText(c.Kind, c.Name, pause.MaxName, true); err != nil {
		return usage("%w", err)
	}
	return g.eachStore(ctx, a, func(s *store, key string) error {
		changed, err := act(pause.New(s, silent()))
		if err != nil {
			return err
		}
		return c.print(a, g, pauseResult{Store: key, Kind: c.Kind, Name: c.Name, Changed: changed}, done, already)
	})
}

func (c *pausable) print(a *app, g *options, r pauseResult, done, already string) error {
	if g.JSON {
		return a.printJSON(r)
	}
	if !r.Changed {
		done = already
	}
	line := fmt.Sprintf("%s %s %s", r.Kind, r.Name, done)
	if r.Store != "" {
		line = r.Store + "  " + line
	}
	_, err := fmt.Fprintln(a.stdout, terminal.Clean(line))
	return err
}

// pausesCmd is "pawl pauses".
type pausesCmd struct{}

// Help is printed by --help.
func (*pausesCmd) Help() string {
	return `ENDING is what was resumed and is not all back yet: whoever resumes is at it, or a
worker will be.`
}

// pauseView is a pause as JSON.
type pauseView struct {
	Store  string    `json:"store,omitempty"`
	Kind   string    `json:"kind"`
	Name   string    `json:"name"`
	Since  time.Time `json:"since"`
	Actor  string    `json:"actor"`
	Reason string    `json:"reason,omitempty"`
	Ending bool      `json:"ending,omitempty"`
}

// Run lists what is paused.
func (c *pausesCmd) Run(ctx context.Context, a *app, g *options) error {
	var all []pauseView
	err := g.eachStore(ctx, a, func(s *store, key string) error {
		list, err := pause.New(s, silent()).List(ctx)
		for _, p := range list {
			all = append(all, pauseView{key, string(p.Kind), p.Name, p.Since, p.Actor, p.Reason, p.Ending})
		}
		return err
	})
	if g.JSON {
		return errors.Join(printAll(a, all, func(v pauseView) pauseView { return v }), err)
	}
	if len(all) == 0 {
		if err == nil {
			fmt.Fprintln(a.stderr, "nothing is paused")
		}
		return err
	}
	return errors.Join(c.print(a, g, all), err)
}

func (c *pausesCmd) print(a *app, g *options, all []pauseView) error {
	t := newStoreTable(g, "KIND", "NAME", "STATE", "SINCE", "BY", "REASON")
	for _, p := range all {
		state := "paused"
		if p.Ending {
			state = "ending"
		}
		t.row(p.Store, p.Kind, p.Name, state, stamp(p.Since), p.Actor, p.Reason)
	}
	return t.Write(a.stdout, terminal.Width(a.stdout))
}
