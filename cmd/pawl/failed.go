package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bravellian/pawl/outbox"
)

// selection picks failed messages.
type selection struct {
	IDs   []string `arg:"" optional:"" name:"id" help:"Ids of failed messages: UUIDs or positions."`
	All   bool     `help:"All failed messages."`
	Topic string   `short:"t" placeholder:"TOPIC" help:"With --all: only those of a topic."`
}

// retryCmd is "pawl retry".
type retryCmd struct{ selection }

// Help is printed by --help.
func (*retryCmd) Help() string {
	return `A retried message is due at once and has all its attempts again.

Examples:

    pawl retry 0198c9a0-5d7e-8a41-9c3f-000000000001
    pawl retry --all --topic mail`
}

// Run gives failed messages a fresh start.
func (c *retryCmd) Run(ctx context.Context, a *app, g *options) error {
	return c.apply(ctx, a, g, "retried", (*outbox.Outbox).Redrive)
}

// discardCmd is "pawl discard".
type discardCmd struct{ selection }

// Help is printed by --help.
func (*discardCmd) Help() string {
	return `A discarded message is not tried again. It is kept for the retention period of
the workers, 7 days by default, and then deleted.`
}

// Run gives failed messages up.
func (c *discardCmd) Run(ctx context.Context, a *app, g *options) error {
	return c.apply(ctx, a, g, "discarded", (*outbox.Outbox).Discard)
}

func (c *selection) apply(ctx context.Context, a *app, g *options, done string,
	act func(*outbox.Outbox, context.Context, outbox.FailedFilter) (int64, error)) error {
	switch {
	case c.All == (len(c.IDs) > 0):
		return usage("want ids or --all")
	case c.Topic != "" && !c.All:
		return usage("--topic goes with --all")
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	o := outbox.New(s, outbox.Options{Logger: slog.New(slog.DiscardHandler)})
	f, err := c.filter(ctx, o)
	var n int64
	if err == nil {
		n, err = act(o, ctx, f)
	}
	if err := s.close(err); err != nil {
		return err
	}
	if missed := int64(len(f.IDs)) - n; missed > 0 {
		return fmt.Errorf("%s %d messages; %d were no longer failed by then", done, n, missed)
	}
	return a.printChanged(done, n, g.JSON)
}

// filter looks at every message first: one that is unknown, or not failed,
// means that none is touched.
func (c *selection) filter(ctx context.Context, o *outbox.Outbox) (outbox.FailedFilter, error) {
	f := outbox.FailedFilter{Topic: c.Topic}
	seen := map[outbox.WorkItemID]bool{}
	for _, id := range c.IDs {
		i, err := lookUp(ctx, o, id)
		if err != nil {
			return f, err
		}
		if i.Status != outbox.Failed {
			return f, fmt.Errorf("message %s is %s, not failed; nothing was changed", id, statusWord(i))
		}
		if !seen[i.WorkItemID] {
			seen[i.WorkItemID] = true
			f.IDs = append(f.IDs, i.WorkItemID)
		}
	}
	return f, nil
}

func (a *app) printChanged(done string, n int64, asJSON bool) error {
	if asJSON {
		return a.printJSON(map[string]int64{done: n})
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s\n", done, several(n, "message"))
	return err
}
