package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// selection picks failed messages and, for pawl retry, those that are retrying, or for pawl undiscard
// discarded ones.
type selection struct {
	IDs         []string `arg:"" optional:"" name:"id" help:"Ids of messages: UUIDs or positions."`
	All         bool     `help:"All of them, or those that the following options choose."`
	Topic       said     `short:"t" placeholder:"TOPIC" help:"With --all: only those of a topic."`
	Queue       said     `placeholder:"NAME" help:"With --all: only those in a queue."`
	Error       said     `placeholder:"TEXT" help:"With --all: only those whose last error contains a text, as it is written."`
	Fingerprint said     `placeholder:"TEXT" help:"With --all: only those whose last error is of a kind that pawl failures lists."`
	Since       ago      `placeholder:"WHEN" help:"With --all: only those that failed since a time (2026-11-22T10:00:00Z), or within a duration (2h)."`
	Before      ago      `placeholder:"WHEN" help:"With --all: only those that failed before a time, or longer ago than a duration."`
	Limit       *int     `short:"n" placeholder:"N" help:"With --all: at most so many, oldest first."`
	DryRun      bool     `help:"Only say how many."`
}

// rated is a selection that workers may change at a rate.
type rated struct {
	selection
	Rate *int `placeholder:"N" help:"At most so many a second: workers do it, and the command returns at once. See pawl bulk."`
}

// said is a text that is not empty: --topic "$TOPIC" without a value of TOPIC does not choose all topics.
type said string

// UnmarshalText reads an option.
func (s *said) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("empty: leave the option out to choose any")
	}
	*s = said(text)
	return nil
}

// retryCmd is "pawl retry".
type retryCmd struct{ rated }

// Help is printed by --help.
func (*retryCmd) Help() string {
	return `Retries messages that failed and those that are retrying, which wait for their
next attempt. All are due at once; one that failed has all its attempts again, one
that is retrying those that it has left. With --rate those that are retrying are
left to their own delays. Of a step of a join that has failed the join stays
failed: "pawl joins retry" retries both.

Examples:

    pawl retry 0198c9a0-5d7e-8a41-9c3f-000000000001
    pawl retry --all --topic mail --error 'connection refused' --since 2h --dry-run
    pawl retry --all --topic mail --rate 50
    pawl bulk ls`
}

// Run gives failed messages a fresh start, and has those that are retrying run now.
func (c *retryCmd) Run(ctx context.Context, a *app, g *options) error {
	return c.apply(ctx, a, g, retried, uuid.Nil, c.Rate)
}

// discardCmd is "pawl discard".
type discardCmd struct{ rated }

// Help is printed by --help.
func (*discardCmd) Help() string {
	return `Discards messages that failed. A discarded message is not tried again. It is kept
for the retention period of the workers, 7 days by default, and then deleted. "pawl
undiscard" takes it back for an hour. Which messages are chosen is said as for "pawl
retry".`
}

// Run gives failed messages up.
func (c *discardCmd) Run(ctx context.Context, a *app, g *options) error {
	return c.apply(ctx, a, g, discarded, uuid.Nil, c.Rate)
}

// undiscardCmd is "pawl undiscard".
type undiscardCmd struct {
	selection
	Act string `placeholder:"ID" help:"With --all: only those that one act discarded, as pawl audit --json and pawl bulk ls have its id."`
}

// Help is printed by --help.
func (*undiscardCmd) Help() string {
	return `Takes discards of the last hour back: messages that had failed have failed again, at
the time when they did, and can be retried. Cancelled messages stay cancelled. Messages
behind one in its ordering key may have run since; it does not hold them up again.

Examples:

    pawl undiscard 0198c9a0-5d7e-8a41-9c3f-000000000001
    pawl undiscard --all --topic mail --dry-run
    pawl undiscard --all --act 0198c9a0-5d7e-7a41-9c3f-000000000009`
}

// Run takes discards back.
func (c *undiscardCmd) Run(ctx context.Context, a *app, g *options) error {
	act := uuid.Nil
	if c.Act != "" {
		var err error
		if act, err = uuid.Parse(c.Act); err != nil || !c.All {
			return usage("--act %q: want the id of an act, with --all", c.Act)
		}
	}
	return c.apply(ctx, a, g, undiscarded, act, nil)
}

const retried, discarded, undiscarded = "retried", "discarded", "undiscarded"

func (c *selection) apply(ctx context.Context, a *app, g *options, done string, of uuid.UUID, rate *int) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	if f.Rate, err = bound("--rate", rate); err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	o := s.pawl().Outbox.Operator(access.Key{})
	act, count := o.Discard, o.CountFailed
	wanted, no := []outbox.Status{outbox.Failed}, "no longer failed"
	switch done {
	case retried:
		act, count, wanted = o.Redrive, o.CountRedrive, append(wanted, outbox.Retrying)
	case undiscarded:
		act = func(ctx context.Context, f outbox.FailedFilter) (acts.Bulk, error) { return o.Undiscard(ctx, f, of) }
		count = func(ctx context.Context, f outbox.FailedFilter) (acts.Bulk, error) {
			return o.CountUndiscard(ctx, f, of)
		}
		wanted, no = []outbox.Status{outbox.Discarded}, "cancelled, or discarded more than an hour ago"
	}
	if !c.All {
		f.IDs, err = c.inState(ctx, o.Outbox, wanted)
	}
	if c.DryRun {
		done, act = "would have "+done, count
	}
	var b acts.Bulk
	if err == nil {
		b, err = act(ctx, f)
	}
	ended := b.EndedSteps
	left := !b.StartedAt.IsZero() && !b.Over() // to workers
	note := ""
	if err == nil && left {
		note, err = workersOf(ctx, s)
	}
	if err := s.close(err); err != nil {
		switch {
		case left:
			return &doneError{fmt.Sprintf("%s %s; workers go on with %s", done, engine.Several(b.Changed, "message"), b.ID), err}
		case b.Changed > 0:
			return &doneError{fmt.Sprintf("%s %s", done, engine.Several(b.Changed, "message")), err}
		}
		return err
	}
	if left {
		return a.printStored(done, &b, note, g.JSON)
	}
	if missed := int64(len(f.IDs)) - b.Changed; missed > 0 {
		return fmt.Errorf("%s %s; %d %s%s", done, engine.Several(b.Changed, "message"), missed, no, endedText("; ", ended))
	}
	if ended > 0 && g.JSON {
		return a.printJSON(map[string]int64{strings.ReplaceAll(done, " ", "_"): b.Changed, "steps_of_failed_joins": ended})
	}
	if err := a.printChanged(done, b.Changed, g.JSON); err != nil || ended == 0 {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, endedText("", ended))
	return err
}

// endedText says that joins of retried messages have ended, and what to do; "" if there are none.
func endedText(before string, steps int64) string {
	if steps == 0 {
		return ""
	}
	return before + fmt.Sprintf("%s of joins that have failed and stay failed -> pawl joins ls --status failed, then pawl joins retry ID", engine.Several(steps, "step"))
}

// filter is what the options choose, but for ids.
func (c *selection) filter() (f outbox.FailedFilter, err error) {
	chosen := c.Topic != "" || c.Queue != "" || c.Error != "" || c.Fingerprint != "" || c.Since.given || c.Before.given || c.Limit != nil
	switch {
	case c.All == (len(c.IDs) > 0):
		return f, usage("want ids or --all")
	case chosen && !c.All:
		return f, usage("--topic, --queue, --error, --fingerprint, --since, --before and --limit go with --all")
	}
	f = outbox.FailedFilter{Topic: string(c.Topic), Queue: string(c.Queue), Error: string(c.Error), Fingerprint: string(c.Fingerprint), Since: c.Since.at, Before: c.Before.at}
	f.Limit, err = bound("--limit", c.Limit)
	return f, err
}

// bound is a number that bounds something; 0, which bounds nothing, if none is said.
func bound(option string, n *int) (int, error) {
	switch {
	case n == nil:
		return 0, nil
	case *n < 1:
		return 0, usage("%s: less than 1", option)
	}
	return *n, nil
}

// inState reads every message first: one that is unknown, or in none of the states, means that none is touched.
func (c *selection) inState(ctx context.Context, o *outbox.Outbox, wanted []outbox.Status) ([]outbox.Position, error) {
	return lookUpAll(ctx, o, c.IDs, func(i *outbox.Info) error {
		if status := view.MessageStatus(i); !slices.Contains(wanted, status) {
			return fmt.Errorf("is %s, not %s", status, wanted[0])
		}
		return nil
	})
}

// lookUpAll finds messages by their ids, each once. One that is unknown or that
// check refuses means that nothing is to be done.
func lookUpAll(ctx context.Context, o *outbox.Outbox, ids []string, check func(*outbox.Info) error) ([]outbox.Position, error) {
	var all []outbox.Position
	for _, id := range ids {
		i, err := lookUp(ctx, o, id)
		if err != nil {
			return nil, unchanged(err)
		}
		if err := check(i); err != nil {
			return nil, fmt.Errorf("message %s %w; nothing was changed", id, err)
		}
		if !slices.Contains(all, i.Position) {
			all = append(all, i.Position)
		}
	}
	return all, nil
}

// unchanged adds to a missing message what that means for the others.
func unchanged(err error) error {
	if errors.Is(err, outbox.ErrNotFound) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return err
}

func (a *app) printChanged(done string, n int64, asJSON bool) error {
	if asJSON {
		return a.printJSON(map[string]int64{strings.ReplaceAll(done, " ", "_"): n})
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s\n", done, engine.Several(n, "message"))
	return err
}
