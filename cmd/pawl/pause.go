package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/admin"
)

// pausable is what can be paused.
type pausable struct {
	Kind string `arg:"" enum:"topic,queue" help:"topic or queue."`
	Name string `arg:"" help:"Its name."`
}

// pauseCmd is "pawl pause".
type pauseCmd struct {
	pausable
}

// Help is printed by --help.
func (*pauseCmd) Help() string {
	return `Workers of every process begin no more messages of a paused topic or queue within
a second; those that are being handled go on to their end. Messages are enqueued
as ever, and wait. Nothing counts as an attempt meanwhile.

--reason is for those who find it paused. What is paused already keeps its reason; to give another, resume first.

With --fleet and without --store all stores are paused; one that cannot be reached
does not keep the others from it, and makes the exit code 1.

Examples:

    pawl pause topic mail --reason 'the mail server is down'
    pawl pause queue reports
    pawl resume topic mail`
}

// Run pauses.
func (c *pauseCmd) Run(ctx context.Context, a *app, g *options) error {
	return changeSubject(ctx, a, g, c.Kind, c.Name, func(p *admin.Admin) (string, bool, error) {
		changed, err := p.Pause(ctx, admin.Kind(c.Kind), c.Name, g.Reason)
		if err != nil || changed {
			return "paused", changed, err
		}
		text, err := c.already(ctx, p, g.Reason)
		return text, false, err
	})
}

// already says since when it has been paused, by whom and why: a new reason is not
// kept.
func (c *pauseCmd) already(ctx context.Context, p *admin.Admin, reason string) (string, error) {
	text := "was paused already"
	all, err := p.Pauses(ctx)
	for _, one := range all {
		if string(one.Kind) != c.Kind || one.Name != c.Name {
			continue
		}
		text = fmt.Sprintf("%s, since %s by %s", text, stamp(one.Since), one.Actor)
		if one.Reason != "" {
			text += ": " + one.Reason
		}
		if reason != "" && reason != one.Reason {
			text += "; the new reason was not kept"
		}
	}
	return text, err
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
	return changeSubject(ctx, a, g, c.Kind, c.Name, func(p *admin.Admin) (string, bool, error) {
		changed, err := p.Resume(ctx, admin.Kind(c.Kind), c.Name)
		if !changed {
			return "was not paused", false, err
		}
		return "resumed", true, err
	})
}

// pausesCmd is "pawl pauses".
type pausesCmd struct{ outputFlag }

// Help is printed by --help.
func (*pausesCmd) Help() string {
	return `STATE is paused, or ending: it was resumed, and some parked messages are not ready
yet. The command that resumed it, or a worker, goes on with them.`
}

// pauseJSON is a pause as JSON.
type pauseJSON struct {
	Store string `json:"store,omitempty"`
	admin.Pause
}

// Run lists what is paused.
func (c *pausesCmd) Run(ctx context.Context, a *app, g *options) error {
	return pauseListing().listStores(ctx, a, g, c.outputFlag, func(s *store, key string) (all []pauseJSON, err error) {
		list, err := s.pawl().Admin.Pauses(ctx)
		for _, p := range list {
			all = append(all, pauseJSON{key, p})
		}
		return all, err
	})
}

func pauseListing() *listing[pauseJSON] {
	return &listing[pauseJSON]{
		none: "nothing is paused",
		id:   func(p *pauseJSON) string { return string(p.Kind) + " " + p.Name },
		columns: []column[pauseJSON]{
			{head: "STORE", cell: func(p *pauseJSON) string { return p.Store }, optional: true},
			{head: "KIND", cell: func(p *pauseJSON) string { return string(p.Kind) }},
			{head: "NAME", cell: func(p *pauseJSON) string { return p.Name }},
			{head: "STATE", cell: (*pauseJSON).state},
			{head: "SINCE", cell: func(p *pauseJSON) string { return stamp(p.Since) }},
			{head: "BY", cell: func(p *pauseJSON) string { return p.Actor }},
			{head: "REASON", cell: func(p *pauseJSON) string { return p.Reason }},
		},
	}
}

// state is a pause's state in a word.
func (p *pauseJSON) state() string {
	if p.Ending {
		return "ending"
	}
	return "paused"
}
