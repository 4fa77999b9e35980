package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
)

// retopicCmd is "pawl retopic".
type retopicCmd struct {
	From   string `arg:"" name:"old" help:"The topic of the messages, or a pattern such as old.*."`
	Topic  string `arg:"" name:"new" help:"Their new topic: the same for another queue alone; after a pattern new.* keeps the rest of each name."`
	Queue  said   `placeholder:"NAME" help:"Their new queue. Default: the one they are in."`
	DryRun bool   `help:"Only say how many."`
}

// Help is printed by --help.
func (*retopicCmd) Help() string {
	return `Messages that are ready, scheduled, waiting for a retry or failed get another topic, and keep
everything else: their ids, their places in the order of their keys, their attempts. One that a
worker holds stays as it is: repeat the command when they are put back. Messages with ordering keys
keep their queue. Timers and jobs keep their topics: a handler of both names (Topic.Also) takes
what they send.

Examples:

    pawl retopic partner.sync partner.push --dry-run
    pawl retopic 'old.*' 'new.*'
    pawl retopic hook.order hook.order --queue hooks`
}

// Run moves messages to another topic or queue.
func (c *retopicCmd) Run(ctx context.Context, a *app, g *options) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	done, err := s.pawl().Outbox.Operator(access.Key{}).Retopic(ctx, acts.Retopic{From: c.From, Topic: c.Topic, Queue: string(c.Queue), DryRun: c.DryRun})
	word := "moved"
	if c.DryRun {
		word = "would have moved"
	}
	if err := s.close(err); err != nil {
		if done.Moved > 0 {
			return &doneError{fmt.Sprintf("%s %s", word, engine.Several(done.Moved, "message")), err}
		}
		return err
	}
	if g.JSON {
		return a.printJSON(done)
	}
	fmt.Fprintf(a.stdout, "%s %s\n", word, engine.Several(done.Moved, "message"))
	if done.Kept > 0 {
		fmt.Fprintf(a.stdout, "%s with ordering keys kept in their queue\n", engine.Several(done.Kept, "message"))
	}
	if done.Running > 0 {
		fmt.Fprintf(a.stdout, "%s held by workers: repeat the command when they are put back\n", engine.Several(done.Running, "message"))
	}
	return nil
}
