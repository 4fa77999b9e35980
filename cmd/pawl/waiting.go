package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// cancelCmd is "pawl cancel".
type cancelCmd struct {
	IDs     []string `arg:"" name:"id" help:"Ids of messages that have not run: UUIDs or positions."`
	Running bool     `help:"Also stop messages that run."`
}

// Help is printed by --help.
func (*cancelCmd) Help() string {
	return `A cancelled message does not run. It counts as discarded and is kept for the
retention period of the workers, with --reason as its last error. A message that
is a step of a join counts as failed there.

Messages that wait can be cancelled, those that wait for a retry included. One that
a worker holds, or that is over, means that none is touched. With --running those
that workers hold are stopped: within a second the context of the handler ends, and
if the handler returns an error the message is discarded. For flows use "pawl flows
cancel", which undoes what they have done.

Examples:

    pawl cancel 0198c9a0-5d7e-8a41-9c3f-000000000001 --reason 'sent by hand'
    pawl cancel 0198c9a0-5d7e-8a41-9c3f-000000000001 --running`
}

// Run cancels messages.
func (c *cancelCmd) Run(ctx context.Context, a *app, g *options) error {
	return changeWaiting(ctx, a, g, c.IDs, "cancelled", c.Running, func(o *outbox.Outbox, ids []outbox.Position) (int64, error) {
		if c.Running {
			return o.CancelRunning(ctx, g.Reason, ids...)
		}
		return o.Cancel(ctx, g.Reason, ids...)
	})
}

// rescheduleCmd is "pawl reschedule".
type rescheduleCmd struct {
	IDs []string `arg:"" name:"id" help:"Ids of messages that have not run: UUIDs or positions."`
	Due ahead    `required:"" placeholder:"WHEN" help:"When they are due: a time (2030-01-31T12:00:00Z), after a duration (10m), or now."`
}

// Help is printed by --help.
func (*rescheduleCmd) Help() string {
	return `Messages that wait can be moved, those that wait for a retry included; attempts
that failed stay counted. One that a worker holds, or that is over, means that none
is touched.

Examples:

    pawl reschedule 4711 --due now
    pawl reschedule 4711 4712 --due 1h`
}

// Run moves messages.
func (c *rescheduleCmd) Run(ctx context.Context, a *app, g *options) error {
	due := c.Due.due()
	if err := (&outbox.Message{Topic: "any", Due: due}).Validate(); err != nil {
		return usage("%w", err)
	}
	return changeWaiting(ctx, a, g, c.IDs, "rescheduled", false, func(o *outbox.Outbox, ids []outbox.Position) (int64, error) {
		return o.Reschedule(ctx, due, ids...)
	})
}

// changeWaiting changes messages that have not run or, where running says so, run.
func changeWaiting(ctx context.Context, a *app, g *options, ids []string, done string, running bool, act func(*outbox.Outbox, []outbox.Position) (int64, error)) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	o := s.pawl().Outbox
	all, err := lookUpAll(ctx, o, ids, func(i *outbox.Info) error {
		if i.Status != outbox.Ready && !(running && i.Status == outbox.InProgress) {
			return fmt.Errorf("is %s, not waiting", view.MessageStatus(i))
		}
		return nil
	})
	var n int64
	if err == nil {
		n, err = act(o, all)
	}
	if err := s.close(err); err != nil {
		return err
	}
	if missed := int64(len(all)) - n; missed > 0 {
		return fmt.Errorf("%s %s; %d did not wait any more", done, engine.Several(n, "message"), missed)
	}
	return a.printChanged(done, n, g.JSON)
}
