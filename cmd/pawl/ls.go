package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// lsCmd is "pawl ls".
type lsCmd struct {
	Status    string `placeholder:"STATUS" xor:"status" values:"ready,scheduled,retrying,running,done,failed,discarded,expired" help:"Only messages that are ready, scheduled, retrying, running, done, failed, discarded or expired. Each has an option of its own, too."`
	Ready     bool   `xor:"status" help:"Due and waiting for a worker."`
	Scheduled bool   `xor:"status" help:"Due later, as planned."`
	Retrying  bool   `xor:"status" help:"Due later, after an attempt that failed."`
	Running   bool   `xor:"status" help:"Held by a worker."`
	Done      bool   `xor:"status" help:"Handled."`
	Failed    bool   `xor:"status" help:"Failed for good."`
	Discarded bool   `xor:"status" help:"Cancelled, or failed and given up; pending runs of a removed job."`
	Expired   bool   `xor:"status" help:"Not handled before they expired."`

	Topic         string  `short:"t" placeholder:"TOPIC" help:"Only messages of a topic."`
	Queue         string  `short:"q" placeholder:"QUEUE" help:"Only messages of a queue."`
	CorrelationID string  `placeholder:"ID" help:"Only messages with this correlation id."`
	Error         string  `placeholder:"TEXT" help:"Only messages whose last error contains a text, upper and lower case as it is."`
	Fingerprint   string  `placeholder:"TEXT" help:"Only messages whose last error is of a kind that pawl failures lists."`
	Since         ago     `placeholder:"WHEN" help:"Only messages enqueued since a time (2026-11-22T10:00:00Z), or within a duration (2h)."`
	Before        ago     `placeholder:"WHEN" help:"Only messages enqueued before a time, or longer ago than a duration."`
	Header        headers `placeholder:"NAME=VALUE" help:"Only messages with a header of exactly this value; may be repeated, then with all of them."`

	pageFlags `set:"cursor=ID"`
	Counts    bool `help:"How many messages are in which state, of all topics, instead of the messages."`
}

// Help is printed by --help.
func (*lsCmd) Help() string {
	return `Messages are listed from the newest position down. --json prints all fields but
the payload; see "pawl show". Only messages that match all filters are
listed; where they are few all messages are read.

Examples:

    pawl ls --failed
    pawl ls --failed --error 'connection refused' --since 1h
    pawl ls --queue mail --header tenant=a --before 1d
    pawl ls --topic mail --limit 1000 --json
    pawl ls --retrying --queue mail -o id | xargs pawl cancel
    pawl ls --counts`
}

// Run lists messages or counts them.
func (c *lsCmd) Run(ctx context.Context, a *app, g *options) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	if c.Counts && (f.Status != "" || c.After != "" || c.chooses()) {
		return usage("--counts counts all messages: it goes with no other choice of them")
	}
	format, err := c.format(g)
	if err != nil {
		return err
	}
	if c.Counts && format != formatTable && format != formatJSON {
		return usage("--counts and --output=%s can't be used together", format)
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	o := s.pawl().Outbox
	if c.Counts {
		counts, err := o.Count(ctx)
		if err := s.close(err); err != nil {
			return err
		}
		return a.printCounts(counts, format == formatJSON)
	}
	found, err := engine.Collect(o.List(ctx, f), c.Limit)
	if err := s.close(err); errors.Is(err, engine.ErrInvalid) {
		return usage("%w", err)
	} else if err != nil {
		return err
	}
	return messageListing().print(a, g, c.listFlags, found)
}

// chooses says whether any messages are left out by what they are.
func (c *lsCmd) chooses() bool {
	return c.Topic != "" || c.Queue != "" || c.CorrelationID != "" || c.Error != "" || c.Fingerprint != "" || c.Since.given || c.Before.given || len(c.Header) > 0
}

func (c *lsCmd) filter() (outbox.ListOptions, error) {
	f := outbox.ListOptions{
		Topic: c.Topic, Queue: c.Queue, CorrelationID: c.CorrelationID, Error: c.Error, Fingerprint: c.Fingerprint,
		OlderThan: c.Before.age, NewerThan: c.Since.age, Headers: c.Header,
	}
	if err := c.checkLimit(); err != nil {
		return f, err
	}
	if c.After != "" {
		position, err := strconv.ParseInt(c.After, 10, 64)
		if err != nil || position < 1 {
			return f, usage("--after: %q is not the number in the column ID", c.After)
		}
		f.After = &outbox.Info{Message: outbox.Message{Position: outbox.Position(position)}}
	}
	switch {
	case c.Since.given && c.Since.age <= 0, c.Before.given && c.Before.age <= 0:
		return f, usage("--since and --before: not in the past")
	case c.Since.given && c.Before.age >= c.Since.age:
		return f, usage("--before is not after --since")
	}
	var err error
	f.Status, err = oneOf(c.word(), outbox.Ready, outbox.Scheduled, outbox.Retrying, outbox.InProgress, outbox.Done, outbox.Failed, outbox.Discarded, outbox.Expired)
	return f, err
}

// word is the state that was chosen, by --status or an option of its own.
func (c *lsCmd) word() string {
	for s, wanted := range map[outbox.Status]bool{
		outbox.Ready: c.Ready, outbox.Scheduled: c.Scheduled, outbox.Retrying: c.Retrying, outbox.InProgress: c.Running, outbox.Done: c.Done, outbox.Failed: c.Failed, outbox.Discarded: c.Discarded, outbox.Expired: c.Expired,
	} {
		if wanted {
			return string(s)
		}
	}
	return c.Status
}

func messageListing() *listing[outbox.Info] {
	return &listing[outbox.Info]{
		none: "no messages",
		columns: []column[outbox.Info]{
			{head: "ID", cell: func(i *outbox.Info) string { return number(int64(i.Position)) }},
			{head: "MESSAGE", cell: func(i *outbox.Info) string { return i.ID.String() }},
			{head: "TOPIC", cell: func(i *outbox.Info) string { return i.Topic }},
			{head: "STATUS", cell: func(i *outbox.Info) string { return string(view.MessageStatus(i)) }},
			{head: "RETRIES", cell: func(i *outbox.Info) string { return strconv.Itoa(i.RetryCount) }},
			{head: "CREATED", cell: func(i *outbox.Info) string { return stamp(i.CreatedAt) }},
			{head: "NOTE", cell: note},
		},
		id:    func(i *outbox.Info) string { return number(int64(i.Position)) },
		pages: true,
		view:  func(i *outbox.Info) any { return view.OfMessage(i, false) },
	}
}

// note is what matters about a message in its state.
func note(i *outbox.Info) string {
	switch status := view.MessageStatus(i); {
	case status == outbox.InProgress && !i.LockedUntil.IsZero():
		return "lease until " + stamp(i.LockedUntil)
	case status == outbox.Done && !i.ProcessedAt.IsZero():
		return "at " + stamp(i.ProcessedAt) + " by " + i.ProcessedBy
	case status == outbox.Retrying, status == outbox.Scheduled && i.LastError != "":
		return "again at " + stamp(i.NextAttemptAt) + ": " + i.LastError
	case status == outbox.Scheduled:
		return "due " + stamp(i.NextAttemptAt)
	}
	return i.LastError
}

func (a *app) printCounts(n outbox.Counts, asJSON bool) error {
	if asJSON {
		return a.printJSON(n)
	}
	var t terminal.Table
	for _, row := range []struct {
		word  string
		count int64
	}{{"ready", n.Ready}, {"scheduled", n.Scheduled}, {"retrying", n.Retrying}, {"running", n.InProgress}, {"done", n.Done}, {"failed", n.Failed}, {"discarded", n.Discarded}, {"expired", n.Expired}} {
		t.Row(row.word, fmt.Sprintf("%10d", row.count))
	}
	return t.Write(a.stdout, 0)
}
