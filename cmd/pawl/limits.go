package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// limitsCmd is "pawl limits".
type limitsCmd struct {
	Ls  limitsLsCmd  `cmd:"" aliases:"list" help:"List the limits and how much of them is used."`
	Set limitsSetCmd `cmd:"" help:"Limit a topic, each topic of a pattern, or a queue, in place of the limit it has."`
	Rm  limitsRmCmd  `cmd:"" help:"End the limit of a topic, each topic of a pattern, or a queue."`
}

// Help is printed by --help.
func (*limitsCmd) Help() string {
	return `A limit bounds how many messages of a topic or queue run at once, or how many begin
in a time, in all processes together. One for each topic of a pattern, such as
each 'call.*', holds for call.acme as much as for call.best. A limit holds from the next
claim on.`
}

// limitable is what can have a limit.
type limitable struct {
	Kind string `arg:"" enum:"topic,each,queue" help:"topic, each (topic of a pattern) or queue."`
	Name string `arg:"" help:"Its name, or the pattern: 'call.*'."`
}

// limitsSetCmd is "pawl limits set".
type limitsSetCmd struct {
	limitable

	Concurrency int    `placeholder:"N" help:"How many messages are claimed at once."`
	Rate        string `placeholder:"N/TIME" help:"How many messages are claimed in a time: 100/s, 20/m, 5/10s."`
	Burst       int    `placeholder:"N" help:"How many messages may be claimed at once when there were fewer before. Default: what --rate gives in a fifth of a second."`
}

// Help is printed by --help.
func (*limitsSetCmd) Help() string {
	return `What is claimed already goes on, and counts. Messages of a topic that have to wait
keep no others of their queue from being handled. --reason is for those who find the limit.

Examples:

    pawl limits set topic mail --concurrency 5
    pawl limits set topic invoice.send --rate 100/m --burst 20 --reason 'their API'
    pawl limits set each 'call.*' --concurrency 2
    pawl limits set queue reports --concurrency 2`
}

// Run sets a limit.
func (c *limitsSetCmd) Run(ctx context.Context, a *app, g *options) error {
	l := outbox.Limit{Concurrency: c.Concurrency, Burst: c.Burst}
	if c.Rate != "" {
		var err error
		if l.Rate, l.Period, err = parseRate(c.Rate); err != nil {
			return err
		}
	}
	return changeSubject(ctx, a, g, c.Kind, c.Name, func(o *admin.Admin) (string, bool, error) {
		changed, err := o.SetLimit(ctx, admin.Kind(c.Kind), c.Name, l, g.Reason)
		if errors.Is(err, pawl.ErrInvalid) {
			err = usage("%w", err)
		}
		if !changed {
			return "had this limit", false, err
		}
		return "limited", true, err
	})
}

// parseRate reads "100/m" and "5/10s".
func parseRate(text string) (n int, period time.Duration, err error) {
	count, per, _ := strings.Cut(text, "/")
	if per != "" && (per[0] < '0' || per[0] > '9') {
		per = "1" + per
	}
	if n, err = strconv.Atoi(count); err == nil {
		period, err = time.ParseDuration(per)
	}
	if err != nil || n < 1 || period <= 0 {
		return 0, 0, usage("--rate %q is no number of messages in a time, such as 100/s or 5/10m", text)
	}
	return n, period, nil
}

// limitsRmCmd is "pawl limits rm".
type limitsRmCmd struct{ limitable }

// Help is printed by --help.
func (*limitsRmCmd) Help() string {
	return `What waited for it is claimed as anything else.`
}

// Run removes a limit.
func (c *limitsRmCmd) Run(ctx context.Context, a *app, g *options) error {
	return changeSubject(ctx, a, g, c.Kind, c.Name, func(o *admin.Admin) (string, bool, error) {
		gone, err := o.RemoveLimit(ctx, admin.Kind(c.Kind), c.Name)
		if !gone {
			return "had no limit", false, err
		}
		return "has no limit any more", true, err
	})
}

// limitsLsCmd is "pawl limits ls".
type limitsLsCmd struct{ outputFlag }

// Help is printed by --help.
func (*limitsLsCmd) Help() string {
	return `CLAIMED is how many messages count against CONCURRENCY: with a handler, or waiting for
one in a worker. WAITING is how many of a topic are due and were met without room for them.`
}

// limitJSON is a limit as JSON.
type limitJSON struct {
	Store string `json:"store,omitempty"`
	admin.Limit
}

// Run lists the limits.
func (c *limitsLsCmd) Run(ctx context.Context, a *app, g *options) error {
	return limitListing().listStores(ctx, a, g, c.outputFlag, func(s *store, key string) (all []limitJSON, err error) {
		list, err := s.pawl().Admin.Limits(ctx)
		for _, l := range list {
			all = append(all, limitJSON{key, l})
		}
		return all, err
	})
}

func limitListing() *listing[limitJSON] {
	return &listing[limitJSON]{
		none: "no limits",
		id:   func(l *limitJSON) string { return string(l.Kind) + " " + l.Name },
		columns: []column[limitJSON]{
			{head: "STORE", cell: func(l *limitJSON) string { return l.Store }, optional: true},
			{head: "KIND", cell: func(l *limitJSON) string { return string(l.Kind) }},
			{head: "NAME", cell: func(l *limitJSON) string { return l.Name }},
			{head: "CONCURRENCY", cell: func(l *limitJSON) string { return numberKnown(l.Concurrency) }},
			{head: "RATE", cell: (*limitJSON).rate},
			{head: "BURST", cell: func(l *limitJSON) string { return numberKnown(l.Burst) }},
			{head: "CLAIMED", cell: func(l *limitJSON) string { return number(l.Claimed) }},
			{head: "WAITING", cell: func(l *limitJSON) string { return number(l.Waiting) }},
			{head: "SINCE", cell: func(l *limitJSON) string { return stamp(l.Since) }},
			{head: "BY", cell: func(l *limitJSON) string { return l.Actor }},
			{head: "REASON", cell: func(l *limitJSON) string { return l.Reason }},
			{head: "IN PLACE OF", cell: func(l *limitJSON) string { return l.Declared }, optional: true},
		},
	}
}

// rate is the rate as it is set.
func (l *limitJSON) rate() string {
	if l.Rate == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%s", l.Rate, engine.Exact(l.Period))
}

// numberKnown is a number, or nothing for 0.
func numberKnown(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
