package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// eraseCmd is "pawl erase".
type eraseCmd struct {
	IDs         []string `arg:"" optional:"" name:"id" help:"Ids of messages: UUIDs or positions."`
	Correlation string   `placeholder:"ID" help:"All messages with this correlation id instead."`
}

// Help is printed by --help.
func (*eraseCmd) Help() string {
	return `Payload, headers, correlation id, unique key, errors, results, and the steps and
signals of flows are removed; the id, the topic and the times of a message are
kept for the retention period of the workers. What waits is cancelled, and what
failed is discarded. Nothing that was erased runs again.

A message that a worker holds is left alone: stop it first with "pawl cancel
--running". Blobs, timers and the inbox are not touched, and backups have what
they had. The audit trail has the positions and --reason.

Examples:

    pawl erase 0198c9a0-5d7e-8a41-9c3f-000000000001 --reason 'request 4711'
    pawl erase --correlation customer-7`
}

// Run erases messages.
func (c *eraseCmd) Run(ctx context.Context, a *app, g *options) error {
	if (len(c.IDs) == 0) == (c.Correlation == "") {
		return usage("give ids, or --correlation")
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	n, left, err := c.erase(ctx, s.pawl().Outbox, g.Reason)
	if err := s.close(err); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("erased %s; %d are held by workers", engine.Several(n, "message"), left)
	}
	return a.printChanged("erased", n, g.JSON)
}

func (c *eraseCmd) erase(ctx context.Context, o *outbox.Outbox, reason string) (n, left int64, err error) {
	if c.Correlation != "" {
		return o.EraseCorrelated(ctx, reason, c.Correlation)
	}
	ids, err := lookUpAll(ctx, o, c.IDs, func(i *outbox.Info) error {
		if i.Status == outbox.InProgress {
			return fmt.Errorf("is %s", view.MessageStatus(i))
		}
		return nil
	})
	if err == nil {
		n, err = o.Erase(ctx, reason, ids...)
	}
	return n, int64(len(ids)) - n, err
}
